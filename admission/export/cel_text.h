#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "policies/rule.h"
#include "schemas/config.h"
#include "schemas/kinds.h"

namespace mindgate::exported {

// What an exported policy evaluates, and from whom: what the webhook is sent, and what modes and
// exceptions of the configuration leave of it.

// What a cluster adds to its mindgate.yaml.
struct ExportOptions {
  // Objects that these make of admitted ones are not evaluated: the users, and the ServiceAccounts
  // of the namespaces. Whoever else names an owner is evaluated.
  std::vector<std::string> controller_namespaces = {};
  std::vector<std::string> controller_users = {};
  std::vector<std::string> excluded_namespaces = {};  // never evaluated
  nlohmann::ordered_json namespace_selector = {};     // null: all the other namespaces
  Time now{};  // exceptions that expire before it have no effect
};

// A match condition.
struct Condition {
  std::string name;
  std::string expression;
};

// Where a mode is in force. A match condition on the namespace, since the selector of a binding
// never leaves out objects without one.
struct Scope {
  schemas::Mode mode = schemas::Mode::kOff;
  std::string condition;  // empty: everywhere
};

schemas::Mode ModeOutside(const policies::Rule& rule, const schemas::Config& config);
// Each mode that the rule has somewhere, kOff too: first that of namespaces that the configuration
// does not name.
std::vector<Scope> ScopesOf(const policies::Rule& rule, const schemas::Config& config);

// Objects that are evaluated in the scope, of the kinds: what the webhook is not sent, or mindgate
// leaves alone, is not.
std::vector<Condition> ConditionsOf(const policies::Rule& rule, schemas::KindSet kinds,
                                    const Scope& scope, const schemas::Config& config,
                                    const ExportOptions& options);
// The first of them, and what leaves alone objects of the kinds that a controller makes of admitted
// ones; nothing when no controller does.
Condition NotBeingDeleted();
std::optional<Condition> NotMade(schemas::KindSet kinds, const ExportOptions& options);
// As a policy has them, behind those that it has already (`written`: null or a list). The API
// server takes no more than kMostConditions: the last one has all the others then, joined by "&&",
// which means the same.
inline constexpr size_t kMostConditions = 64;
nlohmann::ordered_json MatchConditions(const std::vector<Condition>& conditions,
                                       nlohmann::ordered_json written = nullptr);

// A selector of namespaces that selects only those of the options as well; null: all of them.
nlohmann::ordered_json NamespaceSelector(nlohmann::ordered_json selector,
                                         const ExportOptions& options);

// "Deny", "Warn" or "Audit".
std::string_view ActionOf(schemas::Mode mode);

inline constexpr std::string_view kPolicyVersion = "admissionregistration.k8s.io/v1";
// Labels of all that is exported: they find it when it is to be removed.
inline constexpr std::string_view kNameKey = "app.kubernetes.io/name";
inline constexpr std::string_view kNameValue = "mindgate";
inline constexpr std::string_view kComponentKey = "app.kubernetes.io/component";
inline constexpr std::string_view kComponentValue = "exported-policy";

// Why something is not exported that CEL could express.
inline constexpr std::string_view kNotInCel = "it is not written in CEL yet";

// Pieces of CEL that many expressions have. `t` is a variable that holds a template, as
// admission/export/injections.h makes it. Only functions of Kubernetes 1.30 are used.

// Whether names may have the character.
bool IsOfName(char c);
// Whether the word is in the text, and no longer name that begins with it.
bool HasWord(std::string_view text, std::string_view word);

std::string Quoted(std::string_view text);  // 'text'
std::string ListOf(std::span<const std::string_view> words);
std::string ListOf(std::initializer_list<std::string_view> words);
std::string ListOf(std::span<const std::string> words);

// How variables.kind spells a kind: "apps/Deployment", "/Pod".
std::string KindWord(const schemas::KindInfo& info);
// Whether the object is of one of the kinds.
std::string IsOf(schemas::KindSet kinds);

// Whether the text is as a pattern of mindgate.yaml says: exact, or a prefix with a trailing '*'.
std::string MatchesName(std::string_view text, std::string_view pattern);

// What the maps that have the key hold under it, as a list.
std::string ValuesIn(std::string_view maps, std::string_view key);
// The text of the label in the nearest map of the template that has the key, else null.
std::string LabelOf(std::string_view t, std::string_view key);
std::string AnnotationOf(std::string_view t, std::string_view key);
// The same, and where the template has none, that of the metadata that its PodGroup copies.
std::string SeenLabel(std::string_view t, std::string_view key);
// The metadata that the PodGroup copies comes first.
std::string SeenAnnotation(std::string_view t, std::string_view key);

// Texts that Go's strconv.Atoi reads, of up to 18 digits.
inline constexpr std::string_view kWhole = R"(^[+-]?0*[0-9]{1,18}$)";
inline constexpr std::string_view kWholeFromZero = R"(^([+]?0*[0-9]{1,18}|-0+)$)";
inline constexpr std::string_view kWholeFromOne = R"(^[+]?0*[1-9][0-9]{0,17}$)";
// Whether `value` is a text that the pattern matches, or is one that it does not.
std::string IsText(std::string_view value, std::string_view pattern);
std::string IsOtherText(std::string_view value, std::string_view pattern);

// Patterns of resource names: those that count as NPUs, those of one sort of them, and those that
// another product hands out.
std::string NpuNames(const schemas::Config& config);
std::string ForeignNames(const schemas::Config& config);
std::string WholeCards(const schemas::Config& config);
inline constexpr std::string_view kSlices =
    R"(^huawei\.com/(npu-core|(Ascend910|Ascend310P|Ascend310|npu)-[0-9]+c.*)$)";
inline constexpr std::string_view kStaticSlices =
    R"(^huawei\.com/(Ascend910|Ascend310P|Ascend310|npu)-[0-9]+c.*$)";

// The places, of objects that are NPU workloads.
std::string OfNpus(const std::string& places);

// The requests, or the limits, of container `c`.
std::string Requests(std::string_view c);
std::string Limits(std::string_view c);
// Whether container `c` asks for more than nothing of a resource that the pattern matches.
std::string AsksFor(std::string_view c, std::string_view pattern);
// The names `k` of these resources for which it holds, as a list.
std::string NamesAskedFor(std::string_view c, std::string_view holds);

// A pattern of the scheduler's name in other letter case, or with one letter too many, too few or
// replaced.
std::string NearMisses(std::string_view word);

}  // namespace mindgate::exported
