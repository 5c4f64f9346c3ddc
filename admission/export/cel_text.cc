#include "admission/export/cel_text.h"

#include <vector>

#include "base/text.h"
#include "schemas/names.h"
#include "schemas/npu.h"

namespace mindgate::exported {
namespace {

using schemas::ForeignSign;
using schemas::NpuServer;

// An amount that is nothing, in any unit.
constexpr std::string_view kNothing = R"(^[+-]?0+([.]0*)?[a-zA-Z]*$)";

template <typename Words>
std::string Listed(const Words& words) {
  std::string list = "[";
  for (const auto& word : words) {
    if (list.size() > 1) list += ", ";
    list += Quoted(word);
  }
  return list + "]";
}

// Texts of the maps that have the key, in their order.
// Whether container `c` names more than nothing of `k` there.
std::string IsSome(std::string_view c, std::string_view amounts) {
  return "!string(" + std::string(c) + ".resources." + std::string(amounts) + "[k]).matches(" +
         Quoted(kNothing) + ")";
}

std::string FirstOf(const std::string& values) { return "(" + values + " + [dyn(null)])[0]"; }

std::string Escaped(std::string_view text) {
  std::string pattern;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '-' || c == '_';
    if (!plain) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string AnyOf(const std::vector<std::string>& patterns) {
  std::string pattern = "^(";
  for (const std::string& each : patterns) {
    if (pattern.size() > 2) pattern += '|';
    pattern += each;
  }
  return pattern + ")$";
}

// Names that mindgate.yaml lists, which come before all others.
std::vector<std::string> OfSite(const schemas::Config& config, NpuServer server) {
  std::vector<std::string> names;
  for (const schemas::NpuResourceRow& row : config.npu_resources) {
    if (row.served_by == server) names.push_back(Escaped(row.name));
  }
  return names;
}

}  // namespace

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_';
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (end == text.size() || !IsOfName(text[end])) return true;
  }
  return false;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\\' || c == '\'') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string ListOf(std::span<const std::string_view> words) { return Listed(words); }
std::string ListOf(std::initializer_list<std::string_view> words) { return Listed(words); }
std::string ListOf(std::span<const std::string> words) { return Listed(words); }

std::string KindWord(const schemas::KindInfo& info) {
  return std::string(info.group) + "/" + std::string(info.name);
}

std::string IsOf(schemas::KindSet kinds) {
  std::vector<std::string> words;
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (kinds.Has(info.kind)) words.push_back(KindWord(info));
  }
  return "variables.kind in " + Listed(words);
}

std::string MatchesName(std::string_view text, std::string_view pattern) {
  const std::string of(text);
  if (!pattern.ends_with('*')) return of + " == " + Quoted(pattern);
  pattern.remove_suffix(1);
  return pattern.empty() ? "true" : of + ".startsWith(" + Quoted(pattern) + ")";
}

std::string ValuesIn(std::string_view maps, std::string_view key) {
  const std::string word = Quoted(key);
  return std::string(maps) + ".filter(m, " + word + " in m).map(m, m[" + word + "])";
}

std::string LabelOf(std::string_view t, std::string_view key) {
  return FirstOf(ValuesIn(std::string(t) + ".labels", key));
}

std::string AnnotationOf(std::string_view t, std::string_view key) {
  return FirstOf(ValuesIn(std::string(t) + ".annotations", key));
}

std::string SeenLabel(std::string_view t, std::string_view key) {
  return FirstOf(ValuesIn(std::string(t) + ".labels", key) + " + " +
                 ValuesIn(std::string(t) + ".groupLabels", key));
}

std::string SeenAnnotation(std::string_view t, std::string_view key) {
  return FirstOf(ValuesIn(std::string(t) + ".groupAnnotations", key) + " + " +
                 ValuesIn(std::string(t) + ".annotations", key));
}

std::string IsText(std::string_view value, std::string_view pattern) {
  const std::string text(value);
  return "type(" + text + ") == string && " + text + ".matches(" + Quoted(pattern) + ")";
}

std::string IsOtherText(std::string_view value, std::string_view pattern) {
  const std::string text(value);
  return "type(" + text + ") == string && !" + text + ".matches(" + Quoted(pattern) + ")";
}

std::string NpuNames(const schemas::Config& config) {
  auto names = OfSite(config, NpuServer::kMindCluster);
  names.emplace_back(R"(huawei\.com/(?i:Ascend910|Ascend310P|Ascend310|npu|npu-core))");
  names.emplace_back(R"(huawei\.com/(Ascend910|Ascend310P|Ascend310|npu)-[0-9]+c.+)");
  names.emplace_back(R"(huawei\.com/(Ascend910|Ascend310P|Ascend310|npu)-[0-9]+c)");
  return AnyOf(names);
}

std::string WholeCards(const schemas::Config& config) {
  auto names = OfSite(config, NpuServer::kMindCluster);
  names.emplace_back(R"(huawei\.com/(Ascend910|Ascend310P|Ascend310|npu))");
  return AnyOf(names);
}

std::string ForeignNames(const schemas::Config& config) {
  auto names = OfSite(config, NpuServer::kOther);
  std::string wholes = "Ascend910|Ascend310P|Ascend310";
  for (const ForeignSign& sign : schemas::ForeignSigns()) {
    if (sign.where != ForeignSign::Where::kResource) continue;
    wholes += "|" + Escaped(sign.text);
    names.push_back(Escaped(std::string(schemas::kResourcePrefix) + std::string(sign.text)));
  }
  names.push_back(R"(huawei\.com/()" + wholes + ")-(memory|core)");
  names.emplace_back(R"(huawei\.com/npu-memory)");
  return AnyOf(names);
}

std::string OfNpus(const std::string& places) {
  return "!(variables.isNpuWorkload) ? [] : " + places;
}

std::string Requests(std::string_view c) {
  return std::string(c) + ".?resources.?requests.orValue({})";
}

std::string Limits(std::string_view c) {
  return std::string(c) + ".?resources.?limits.orValue({})";
}

std::string AsksFor(std::string_view c, std::string_view pattern) {
  const auto counts = [&](std::string_view amounts) {
    return "k.matches(" + Quoted(pattern) + ") && " + IsSome(c, amounts);
  };
  return "(" + Requests(c) + ".exists(k, " + counts("requests") + ") || " + Limits(c) +
         ".exists(k, !(k in " + Requests(c) + ") && " + counts("limits") + "))";
}

std::string NamesAskedFor(std::string_view c, std::string_view holds) {
  const std::string also = std::string(holds) + " && ";
  return "(" + Requests(c) + ".filter(k, " + also + IsSome(c, "requests") + ") + " + Limits(c) +
         ".filter(k, !(k in " + Requests(c) + ") && " + also + IsSome(c, "limits") + "))";
}

std::string NearMisses(std::string_view word) {
  std::vector<std::string> patterns = {"(?i:" + Escaped(word) + ")"};
  for (size_t i = 0; i < word.size(); ++i) {
    const std::string before = Escaped(word.substr(0, i));
    const std::string after = Escaped(word.substr(i + 1));
    patterns.push_back(before + ".?" + after);
    patterns.push_back(before + "." + Escaped(word.substr(i)));
  }
  return AnyOf(patterns);
}

}  // namespace mindgate::exported
