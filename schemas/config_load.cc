#include "schemas/config_load.h"

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "schemas/json_schema.h"

namespace mindgate::schemas {
namespace {

using json::Child;
using json::Find;
using json::Json;

// "on" and "off" as YAML reads them without quotes.
std::string WordOf(const Json& value) {
  if (const auto text = json::AsString(&value)) return std::string(*text);
  if (const auto truth = json::AsBool(&value)) return *truth ? "on" : "off";
  return value.dump();
}

// Takes a value into a Config and adds the faults that a schema cannot express. What the schema
// finds wrong is passed over here.
class Reader {
 public:
  Reader(const Json& root, const KnownNames& known, std::vector<SchemaFault>& faults)
      : root_(root), known_(known), faults_(faults) {}

  Config Read() {
    Config config;
    Text(root_, "scheduler", config.scheduler);
    Whole(root_, "graceOverTime", config.grace_over_time);
    Whole(root_, "superPodSize", config.super_pod_size);
    if (const Json* on = Find(root_, "gangRepair")) config.gang_repair = WordOf(*on) == "on";
    if (const Json* scaling = Find(root_, "elasticScaling")) {
      config.elastic_scaling = ReadElasticScaling(*scaling);
    }
    for (const auto& [name, profile] : Members(root_, "profiles")) {
      ReadProfile(name, profile, config);
    }
    for (const auto& [name, on] : Members(root_, "mutators")) {
      if (WordOf(on) == "off") config.disabled_mutators.insert(name);
    }
    if (const Json* most = Find(root_, "maxMode")) {
      config.max_mode = ModeNamed(WordOf(*most)).value_or(config.max_mode);
    }
    config.rules = ReadModes(root_, "");
    EachItem("namespaces", [&](const Json& item, const std::string& path) {
      config.namespaces.push_back(ReadNamespace(item, path, config.namespaces));
    });
    EachItem("exceptions", [&](const Json& item, const std::string& path) {
      config.exceptions.push_back(ReadException(item, path));
    });
    EachItem("accelerators", [&](const Json& item, const std::string& path) {
      config.accelerators.push_back(ReadAccelerator(item, path));
    });
    return config;
  }

 private:
  void Fault(std::string path, std::string message, std::string hint) {
    faults_.push_back({std::move(path), std::move(message), std::move(hint)});
  }

  static const Json::object_t& Members(const Json& object, std::string_view key) {
    static const Json::object_t none;
    const Json* value = Find(object, key);
    return json::IsObject(value) ? *value->get_ptr<const Json::object_t*>() : none;
  }

  template <typename Visit>
  void EachItem(std::string_view key, Visit visit) {
    const Json* list = Find(root_, key);
    for (size_t i = 0; json::IsArray(list) && i < list->size(); ++i) {
      if ((*list)[i].is_object()) visit((*list)[i], Child(Child("", key), i));
    }
  }

  static void Text(const Json& object, std::string_view key, std::string& out) {
    if (const auto text = json::FindString(object, key)) out = *text;
  }

  // A whole number may be written 3.0.
  static std::optional<int64_t> AsWhole(const Json& value) {
    const auto* number = value.get_ptr<const Json::number_float_t*>();
    // Beyond 2^53 a double is no longer exact.
    if (number != nullptr && std::trunc(*number) == *number && std::abs(*number) < 0x1p53) {
      return static_cast<int64_t>(*number);
    }
    return json::AsInt(&value);
  }

  static void Whole(const Json& object, std::string_view key, int64_t& out) {
    if (const Json* value = Find(object, key)) out = AsWhole(*value).value_or(out);
  }

  static EnforcementMode ModeOf(const Json& object, std::string_view key,
                                EnforcementMode fallback) {
    const Json* value = Find(object, key);
    return value == nullptr ? fallback : EnforcementModeNamed(WordOf(*value)).value_or(fallback);
  }

  static ElasticScaling ReadElasticScaling(const Json& value) {
    ElasticScaling scaling;
    scaling.mode = ModeOf(value, "mode", scaling.mode);
    if (const Json* on = Find(value, "upstreamCounts")) {
      scaling.upstream_counts = WordOf(*on) == "on";
    }
    Whole(value, "reservation", scaling.reservation);
    scaling.rebalance = ModeOf(value, "rebalance", scaling.rebalance);
    Whole(value, "rebalanceAfter", scaling.rebalance_after);
    Whole(value, "coolDown", scaling.cool_down);
    Whole(value, "giveUpsPerMinute", scaling.give_ups_per_minute);
    return scaling;
  }

  // The id of a rule that is written as id or name, empty when there is none.
  std::string_view RuleId(std::string_view written) const {
    for (const KnownNames::Name& rule : known_.rules) {
      if (rule.id == written || rule.name == written) return rule.id;
    }
    return {};
  }

  void ReadProfile(const std::string& name, const Json& value, Config& config) {
    const auto framework = FrameworkNamed(name);
    if (!framework) return;  // the schema knows them all
    Profile& profile = config.profiles[static_cast<size_t>(*framework)];
    if (const Json* word = Find(value, "faultScheduling")) profile.fault_scheduling = WordOf(*word);
    if (const Json* word = Find(value, "podRescheduling")) profile.pod_rescheduling = WordOf(*word);
    const Json* times = Find(value, "faultRetryTimes");
    if (times == nullptr) return;
    if (const auto number = AsWhole(*times)) {
      profile.fault_retry_times = std::to_string(*number);  // the schema has refused negative ones
    } else if (const auto text = json::AsString(times)) {
      profile.fault_retry_times = *text;
      const auto parsed = ParseGoInt(*text);
      if (!text->empty() && (!parsed || *parsed < 0)) {
        Fault(Child(Child("/profiles", name), "faultRetryTimes"),
              Quote(*text) + " is not a whole number of 0 or more",
              "write a number such as 3, or \"\" to inject nothing");
      }
    } else if (times->is_number()) {
      Fault(Child(Child("/profiles", name), "faultRetryTimes"), times->dump() + " is too large",
            "write " + std::to_string(std::numeric_limits<int64_t>::max()) + " or less");
    }
  }

  RuleModes ReadModes(const Json& holder, const std::string& path) {
    RuleModes modes;
    for (const auto& [written, word] : Members(holder, "rules")) {
      const std::string_view id = RuleId(written);
      const auto mode = ModeNamed(WordOf(word));
      if (id.empty() || !mode) continue;  // the schema has said so
      if (!modes.emplace(id, *mode).second) {
        Fault(Child(Child(path, "rules"), written),
              "rule " + std::string(id) + " is set twice, by its id and by its name",
              "keep one of them");
      }
    }
    return modes;
  }

  // A '*' matches only at the end; elsewhere it would be taken as itself, which no name holds.
  void CheckPattern(std::string_view pattern, const std::string& path) {
    const size_t star = pattern.find('*');
    if (star != std::string_view::npos && star + 1 != pattern.size()) {
      Fault(path, Quote(pattern) + " cannot match anything: * is allowed only at the end",
            "write a name, or the beginning of names followed by *");
    }
  }

  NamespaceOverride ReadNamespace(const Json& value, const std::string& path,
                                  const std::vector<NamespaceOverride>& earlier) {
    NamespaceOverride out;
    Text(value, "name", out.name);
    CheckPattern(out.name, Child(path, "name"));
    for (const NamespaceOverride& other : earlier) {
      // A prefix pattern that matches the pattern's own text matches all that it matches.
      if (!MatchesPattern(other.name, out.name)) continue;
      Fault(Child(path, "name"),
            Quote(out.name) + " has no effect: " + Quote(other.name) +
                " above it matches the same namespaces",
            "move it up, or merge the two");
      break;
    }
    out.inject = json::FindString(value, "inject") != "disabled";
    out.rules = ReadModes(value, path);
    return out;
  }

  Exception ReadException(const Json& value, const std::string& path) {
    Exception out;
    const Json* rules = Find(value, "rules");
    const std::string rules_path = Child(path, "rules");
    for (size_t i = 0; json::IsArray(rules) && i < rules->size(); ++i) {
      if (!(*rules)[i].is_string()) continue;
      const std::string written = WordOf((*rules)[i]);
      const std::string_view id = RuleId(written);
      if (id.empty()) {
        UnknownRule(written, Child(rules_path, i));
      } else {
        out.rules.emplace_back(id);
      }
    }
    Text(value, "namespace", out.ns);
    Text(value, "kind", out.kind);
    Text(value, "name", out.name);
    Text(value, "owner", out.owner);
    Text(value, "reason", out.reason);
    CheckPattern(out.ns, Child(path, "namespace"));
    CheckPattern(out.name, Child(path, "name"));
    if (!out.kind.empty()) CheckKind(out.kind, Child(path, "kind"));
    const auto expires = json::FindString(value, "expires");
    const auto time = ParseTime(expires.value_or(""));
    if (time) {
      out.expires = *time;
    } else if (expires && !expires->empty()) {
      Fault(Child(path, "expires"), Quote(*expires) + " is not a date",
            "write a day (2026-12-31) or a time (2026-12-31T12:00:00Z)");
    }
    return out;
  }

  void UnknownRule(std::string_view written, std::string path) {
    std::vector<std::string_view> names;
    for (const KnownNames::Name& rule : known_.rules) {
      names.push_back(rule.id);
      names.push_back(rule.name);
    }
    const auto near = NearestOf(written, names);
    Fault(std::move(path), "unknown rule " + Quote(written),
          near ? "did you mean " + Quote(*near) + "?" : "`mindgate explain` lists the rules");
  }

  void CheckKind(std::string_view kind, std::string path) {
    std::vector<std::string_view> names;
    for (int i = 0; i < kKindCount; ++i) names.push_back(KindName(static_cast<Kind>(i)));
    for (std::string_view name : names) {
      if (MatchesPattern(kind, name)) return;
    }
    const auto near = NearestOf(kind, names);
    Fault(std::move(path), Quote(kind) + " is not a kind that rules check",
          near ? "did you mean " + Quote(*near) + "?" : "");
  }

  AcceleratorRow ReadAccelerator(const Json& value, const std::string& path) {
    AcceleratorRow out;
    Text(value, "schedulePolicy", out.schedule_policy);
    Text(value, "acceleratorType", out.accelerator_type);
    if (Find(value, "schedulePolicy") == nullptr && Find(value, "acceleratorType") == nullptr) {
      Fault(path, "nothing selects this row", "add schedulePolicy, acceleratorType or both");
    }
    Whole(value, "nodeChips", out.node_chips);
    const Json* chips = Find(value, "podChips");
    for (size_t i = 0; json::IsArray(chips) && i < chips->size(); ++i) {
      const auto count = AsWhole((*chips)[i]);
      if (!count) continue;
      out.pod_chips.insert(*count);
      if (out.node_chips > 0 && *count > out.node_chips) {
        Fault(Child(Child(path, "podChips"), i),
              std::to_string(*count) + " is more than a node of " + std::to_string(out.node_chips) +
                  " chips has",
              "write at most " + std::to_string(out.node_chips));
      }
    }
    out.super_pod = json::AsBool(Find(value, "superPod")).value_or(false);
    out.whole_nodes_when_distributed =
        json::AsBool(Find(value, "wholeNodesWhenDistributed")).value_or(false);
    return out;
  }

  const Json& root_;
  const KnownNames& known_;
  std::vector<SchemaFault>& faults_;
};

// What a general schema validator cannot know about ours.
void AddHints(std::vector<SchemaFault>& faults) {
  for (SchemaFault& fault : faults) {
    if (fault.hint.empty() && fault.path.find("/rules/") != std::string::npos &&
        fault.message.starts_with("unknown key")) {
      fault.hint = "`mindgate explain` lists the rules";
    }
  }
}

json::Issues OneIssue(json::Issue issue) {
  json::Issues issues;
  issues.Add(std::move(issue));
  return issues;
}

}  // namespace

std::string HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string digits(16, '0');
  for (size_t i = digits.size(); i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

tl::expected<Config, json::Issues> ReadConfig(const Json& value, const KnownNames& known,
                                              const json::Positions& positions,
                                              std::string_view base) {
  const auto schema = JsonSchema::Compile(Json(ConfigSchema(known)));
  if (!schema) return tl::unexpected(OneIssue({{}, "", schema.error().message(), ""}));
  std::vector<SchemaFault> faults = schema->Validate(value);
  AddHints(faults);
  Config config = Reader(value, known, faults).Read();
  if (faults.empty()) return config;
  // By place; several of one place in the order found.
  std::multimap<std::pair<int, int>, json::Issue> found;
  for (const SchemaFault& fault : faults) {
    json::Issue issue = ToIssue(fault, value, positions, base);
    found.emplace(std::pair(issue.at.line, issue.at.column), std::move(issue));
  }
  json::Issues issues;
  for (auto& [place, issue] : found) issues.Add(std::move(issue));
  return tl::unexpected(std::move(issues));
}

tl::expected<Config, json::Issues> LoadConfig(std::string_view text, const KnownNames& known) {
  auto documents = json::DecodeYaml(text);
  if (!documents) return tl::unexpected(OneIssue(std::move(documents.error())));
  if (documents->size() > 1) {
    return tl::unexpected(OneIssue({{(*documents)[1].line, 1},
                                    "",
                                    "a configuration file holds only one document",
                                    "remove the line of three dashes, or this document"}));
  }
  tl::expected<Config, json::Issues> config =
      documents->empty()
          ? Config()
          : ReadConfig(documents->front().value, known, documents->front().positions);
  if (config) config->generation = HashText(text);
  return config;
}

}  // namespace mindgate::schemas
