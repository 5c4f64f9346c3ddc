#include "faults/codes.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/time.h"

namespace mindgate::faults {
namespace {

constexpr std::array<std::string_view, 4> kNetworkCodes = {"81078603", "81078607", "110001024",
                                                           "110000002"};

// Where a text is from, and where the next one is if it cannot be read.
struct EitherText {
  std::optional<std::string_view> of_cluster{};
  std::string_view shipped;
};

std::string WhereOf(std::string_view key) {
  return "ConfigMap " + std::string(kConfigNamespace) + "/" + std::string(kConfigName) + ": " +
         std::string(key) + ": ";
}

EitherText EitherOf(const json::Value* config_map, std::string_view key, std::string_view shipped,
                    std::vector<std::string>* problems) {
  if (config_map == nullptr) return {.shipped = shipped};
  const json::Value* value = json::Find(json::Find(*config_map, "data"), key);
  if (value == nullptr) return {.shipped = shipped};
  const auto text = json::AsString(value);
  if (!text) problems->push_back(WhereOf(key) + "it is not a text");
  return {text, shipped};
}

// `read` on the text of the cluster, else on the shipped one; whether it is the cluster's.
template <typename Read>
bool ReadEither(const EitherText& texts, std::string_view key, std::vector<std::string>* problems,
                const Read& read) {
  if (texts.of_cluster) {
    TextProblems of_text;
    const bool read_it = read(*texts.of_cluster, of_text);
    of_text.AppendTo(*problems, WhereOf(key));
    if (read_it) return true;
    problems->push_back(
        WhereOf(key) +
        "the device plugin uses the file that it ships instead, and so does mindgate");
  }
  TextProblems none;
  read(texts.shipped, none);
  return false;
}

std::string UntilGone(std::optional<std::chrono::seconds> gone) {
  if (!gone) return ", until a person releases the chip";
  if (gone->count() == 0) return ", until it is gone";
  return ", until it has been gone for " + FormatDuration(*gone);
}

std::string RelationText(const FaultRelation& relation) {
  const std::string with = Join(relation.with, " and ");
  return with + " and " + relation.trigger + " in one job within " +
         FormatDuration(relation.within) +
         ": ClusterD sets the label fault-type: " + relation.strategy +
         " on the job's pods on nodes with " + with;
}

}  // namespace

std::string_view CodeSourceFile(CodeSource source) {
  switch (source) {
    case CodeSource::kChip:
      return "component/ascend-device-plugin/build/faultCode.json";
    case CodeSource::kSwitch:
      return "component/ascend-device-plugin/build/SwitchFaultCode.json";
    case CodeSource::kNode:
      return "component/noded/build/NodeDConfiguration.json";
    case CodeSource::kPublic:
      return "component/clusterd/build/publicFaultConfiguration.json";
  }
  return "";
}

const FaultTable& FaultTable::Shipped() {
  static const FaultTable table(FaultReleases().back());
  return table;
}

FaultTable FaultTable::OfCluster(const json::Value& config_map,
                                 std::vector<std::string>& problems) {
  return {FaultReleases().back(), &config_map, &problems};
}

FaultTable::FaultTable(const FaultFiles& files, const json::Value* config_map,
                       std::vector<std::string>* problems)
    : release_(files.release) {
  const auto add_codes = [this](CodeSource source) {
    return [this, source](std::string_view text, TextProblems& of_text) {
      const auto codes = ReadCodeLevels(text, source, of_text);
      if (!codes) return false;
      for (const CodeLevel& code : *codes) {
        const auto [place, is_new] =
            index_.try_emplace({source, ToLower(code.code)}, codes_.size());
        if (is_new) {
          codes_.push_back({code.code, source, code.level});
        } else {
          FaultLevel& level = codes_[place->second].level;
          level = std::max(level, code.level);
        }
      }
      return true;
    };
  };
  chips_of_cluster_ = ReadEither(EitherOf(config_map, kConfigKeys[0], files.chips, problems),
                                 kConfigKeys[0], problems, add_codes(CodeSource::kChip));
  switches_of_cluster_ = ReadEither(EitherOf(config_map, kConfigKeys[1], files.switches, problems),
                                    kConfigKeys[1], problems, add_codes(CodeSource::kSwitch));
  TextProblems none;
  add_codes(CodeSource::kNode)(files.machines, none);
  add_codes(CodeSource::kPublic)(files.public_faults, none);

  ReadEither(EitherOf(config_map, kConfigKeys[2], files.customization, problems), kConfigKeys[2],
             problems, [this](std::string_view text, TextProblems& of_text) {
               const auto customization = ReadCustomization(text, of_text);
               if (!customization) return false;
               const auto set = [&](const auto& of_codes, auto member) {
                 for (const auto& [code, when] : of_codes) {
                   const auto found = index_.find({CodeSource::kChip, code});
                   if (found == index_.end()) {
                     of_text.Add("EventId " + Quote(code) +
                                 " has no level in faultCode.json, so nothing is known of it");
                   } else {
                     codes_[found->second].*member = when;
                   }
                 }
               };
               set(customization->lasts, &FaultCode::lasts);
               set(customization->repeats, &FaultCode::repeats);
               return true;
             });

  const auto relations = ReadRelations(files.relations, files.waits, none);
  for (const FaultRelation& relation : relations.value_or(std::vector<FaultRelation>())) {
    std::vector<std::string> parts = relation.with;
    parts.push_back(relation.trigger);
    for (FaultCode& code : codes_) {
      if (std::find(parts.begin(), parts.end(), code.code) != parts.end()) {
        code.relations.push_back(relation);
      }
    }
  }
}

const FaultCode* FaultTable::Find(std::string_view code, CodeSource source) const {
  const auto found = index_.find({source, ToLower(code)});
  return found == index_.end() ? nullptr : &codes_[found->second];
}

const FaultCode* FaultTable::Find(std::string_view code) const {
  for (const CodeSource source :
       {CodeSource::kChip, CodeSource::kSwitch, CodeSource::kNode, CodeSource::kPublic}) {
    if (const FaultCode* found = Find(code, source)) return found;
  }
  return nullptr;
}

bool FaultTable::IsOfCluster(CodeSource source) const {
  return (source == CodeSource::kChip && chips_of_cluster_) ||
         (source == CodeSource::kSwitch && switches_of_cluster_);
}

bool IsNetworkCode(std::string_view code) {
  return std::find(kNetworkCodes.begin(), kNetworkCodes.end(), code) != kNetworkCodes.end();
}

FaultLevel LevelIfItStays(const FaultCode& code) {
  return code.lasts ? std::max(code.level, code.lasts->level) : code.level;
}

Effect EffectOf(std::string_view code, CodeSource source, FaultLevel level) {
  if (level <= FaultLevel::kNotHandle) return Effect::kNone;
  if (level == FaultLevel::kSubHealth) return Effect::kSubHealth;
  // ClusterD takes a node or switch with PreSeparate for healthy as long as a pod with NPUs runs
  // there, and the device plugin lists such a chip as unhealthy only when nobody uses it.
  if (level == FaultLevel::kPreSeparate) return Effect::kNoNewPods;
  // The device plugin names the chip under ManuallySeparateNPU, whatever the fault.
  if (level == FaultLevel::kManuallySeparate) return Effect::kChip;
  if (IsNetworkCode(code)) return Effect::kNoNewPods;
  const bool of_node = source == CodeSource::kNode || source == CodeSource::kSwitch;
  return of_node ? Effect::kNode : Effect::kChip;
}

std::vector<std::string> EscalationsOf(const FaultCode& code) {
  std::vector<std::string> sentences;
  if (code.lasts) {
    sentences.push_back("if it lasts " + FormatDuration(code.lasts->time) + ": " +
                        std::string(FaultLevelName(code.lasts->level)) +
                        UntilGone(code.lasts->gone));
  }
  if (code.repeats) {
    sentences.push_back(
        std::to_string(code.repeats->times) + " times in " + FormatDuration(code.repeats->within) +
        ": " + std::string(FaultLevelName(code.repeats->level)) + UntilGone(code.repeats->gone));
  }
  for (const FaultRelation& relation : code.relations) sentences.push_back(RelationText(relation));
  return sentences;
}

}  // namespace mindgate::faults
