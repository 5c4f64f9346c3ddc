#pragma once

#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/rule.h"
#include "schemas/workload.h"

// The entries of labels and annotations that reach pods or PodGroups, for rules that check them
// wherever they are.
namespace mindgate::policies {

// One entry whose value is text; others are the wrong-type rule's business.
struct TextEntry {
  const schemas::FieldView* map;
  std::string_view key;
  std::string_view value;

  std::string Path() const { return map->path.Child(key); }
};

// The entries of a key in some maps, found one after the other: for a range-based for.
class TextEntries {
 public:
  TextEntries(std::span<const schemas::FieldView* const> maps, std::string_view key)
      : maps_(maps), key_(key) {}

  class Iterator {
   public:
    Iterator(std::span<const schemas::FieldView* const> maps, std::string_view key)
        : maps_(maps), found_{nullptr, key, {}} {
      Advance();
    }
    const TextEntry& operator*() const { return found_; }
    Iterator& operator++() {
      Advance();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return found_.map == nullptr; }

   private:
    void Advance();

    std::span<const schemas::FieldView* const> maps_;  // those that were not searched yet
    TextEntry found_;
  };
  Iterator begin() const { return {maps_, key_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::span<const schemas::FieldView* const> maps_;
  std::string_view key_;
};

// The entries of `key` in the maps that reach pods or PodGroups.
TextEntries ReachingLabels(const schemas::WorkloadView& view, std::string_view key);
TextEntries ReachingAnnotations(const schemas::WorkloadView& view, std::string_view key);

// The pointer of the entry from which the template takes the key, or where it would be written when
// it has none or has it from its runtime, which is another object.
std::string LabelPath(const schemas::WorkloadView& view, const schemas::PodTemplateView& pod,
                      std::string_view key);
std::string AnnotationPath(const schemas::WorkloadView& view, const schemas::PodTemplateView& pod,
                           std::string_view key);

// The label as the scheduler sees it for one template: of the template, else of its PodGroup's own
// metadata.
std::optional<std::string_view> SeenLabel(const schemas::WorkloadView& view,
                                          const schemas::PodTemplateView& pod,
                                          std::string_view key);

// The pointer of that entry, or where it would be written: a PodGroup that copies its job's
// metadata takes it from there.
std::string SeenLabelPath(const schemas::WorkloadView& view, const schemas::PodTemplateView& pod,
                          std::string_view key);

// Two places of one PodGroup that say different things.
struct Disagreement {
  schemas::LabelOccurrence first;
  schemas::LabelOccurrence other;  // where it is reported
  std::string_view first_text;
  std::string_view other_text;
};

// The first place whose text is not the `same` as that of the first place with text. Entries in a
// runtime are left out: a service overrides them.
std::optional<Disagreement> FindDisagreement(const schemas::LabelOccurrences& occurrences,
                                             bool (*same)(std::string_view, std::string_view));

// Nobody completes this object: its label, its namespace or the configuration declines injection,
// or switches off the mutator of that name.
bool IsInjectionOff(const RuleContext& context, std::string_view mutator);

// An update of what has a frozen pod template: what is missing there stays missing.
bool IsWrittenNoMore(const RuleContext& context);

// As in schemas/placement.h, for an object that is evaluated: nothing more is written after it.
bool IsLeftToDefault(const RuleContext& context, const schemas::PodTemplateView& pod);
bool IsPlacedByVolcano(const RuleContext& context, const schemas::PodTemplateView& pod);

inline constexpr std::string_view kNeedsRuntime =
    "needs the runtime of the service, which is not known here";

// The template of a StatefulSet that makes a pod only when the one before is ready.
bool MakesPodsInOrder(const schemas::WorkloadView& view, const schemas::PodTemplateView& pod);

// The pod may be bound to a node already, and carries what scheduler and device plugin wrote.
bool MayBeBound(const RuleContext& context);

// An AscendJob of MindIE's controller or coordinator: it has no NPUs and is never rescheduled as a
// whole.
bool IsMindieManager(const schemas::WorkloadView& view);

}  // namespace mindgate::policies
