#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "schemas/config.h"
#include "schemas/kinds.h"

// Pieces of CEL that many expressions have. `t` is a variable that holds a template, as
// export/templates.h makes it. Only functions of Kubernetes 1.30 are used.
namespace mindgate::exported {

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
