#include "schemas/config_schema.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "schemas/config.h"

// Booleans are listed beside "on" and "off" in the lists of allowed values because YAML 1.1 reads
// these words as booleans when they are not quoted.
namespace mindgate::schemas {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Without the parts that depend on Config's defaults and on the known names.
constexpr std::string_view kSchema = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "mindgate.yaml",
  "description": "Configuration of mindgate. Every key is optional and has a default. Unknown keys are errors.",
  "type": ["object", "null"],
  "additionalProperties": false,
  "properties": {
    "scheduler": {
      "description": "The scheduler that the mutator scheduler-name writes into templates that request NPUs and name no scheduler of their own.",
      "type": "string",
      "minLength": 1
    },
    "profiles": {
      "description": "What is injected for each framework where the user wrote nothing. An empty value means that the label is not injected.",
      "type": ["object", "null"],
      "additionalProperties": false,
      "properties": {}
    },
    "mutators": {
      "description": "Switches individual mutators off. A mutator that is off injects nothing; rules still apply.",
      "type": ["object", "null"],
      "additionalProperties": false,
      "properties": {}
    },
    "gangRepair": {
      "description": "While on, the watcher lowers the gang size of a new ReplicaSet to the pods that can exist, so that a rolling update of a gang-scheduled Deployment is not blocked. When off, huawei.com/schedule_minAvailable is not injected where such an update could not proceed.",
      "enum": ["on", "off", true, false]
    },
    "elasticScaling": {
      "description": "How the watcher treats the instances of services under a scaling rule (label mind-cluster/scaling-rule).",
      "type": ["object", "null"],
      "additionalProperties": false,
      "properties": {
        "mode": {
          "description": "With enforce, pods under a rule are created behind a scheduling gate, which the watcher opens as the rule says. With observe the watcher only reports what it sees; with off it does not watch these pods.",
          "enum": ["off", "observe", "enforce", false]
        },
        "upstreamCounts": {
          "description": "With on, only running instances are counted, as ascend-operator does: all waiting instances of a group start at once, which may be more than the rule wants.",
          "enum": ["on", "off", true, false]
        },
        "reservation": {
          "description": "Seconds that an instance counts as started after its gate was to be opened, while neither its pods nor the API server confirm it; then the gate is opened again.",
          "type": "integer",
          "minimum": 1,
          "maximum": 3600
        },
        "rebalance": {
          "description": "With enforce, an instance of a group that has more than the shape wants is given up when a wanted one of another group finds no room. With observe this is only reported.",
          "enum": ["off", "observe", "enforce", false]
        },
        "rebalanceAfter": {
          "description": "Seconds that the wanted instance must have found no room before another one is given up.",
          "type": "integer",
          "minimum": 1,
          "maximum": 86400
        },
        "coolDown": {
          "description": "Minimum number of seconds between giving up two instances of one service.",
          "type": "integer",
          "minimum": 1,
          "maximum": 86400
        },
        "giveUpsPerMinute": {
          "description": "How many instances of all services together may be given up within a minute; the others wait, so that a cluster that suddenly looks full is not taken apart.",
          "type": "integer",
          "minimum": 1,
          "maximum": 1000
        }
      }
    },
    "maxMode": {
      "description": "The most that any violated rule leads to, here and in namespaces: with warn what a rule would deny is admitted with a warning, with audit findings are only recorded. Rules whose own mode is less keep it. For a rollout; enforce leaves every rule its mode.",
      "enum": ["audit", "warn", "enforce"]
    },
    "rules": {
      "description": "What a violated rule leads to, by rule id or name: enforce denies, warn admits with a warning, audit only records, off does not check. Rules that are not listed keep their own default; `mindgate explain` shows it.",
      "type": ["object", "null"],
      "additionalProperties": false,
      "properties": {},
      "default": {},
      "examples": [{"MG050": "enforce", "MG051": "off"}]
    },
    "namespaces": {
      "description": "Overrides for namespaces. The first entry that matches applies.",
      "type": ["array", "null"],
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["name"],
        "properties": {
          "name": {
            "description": "The namespace, or the beginning of its name with a * at the end.",
            "type": "string",
            "minLength": 1
          },
          "inject": {
            "description": "With disabled nothing is injected into this namespace; rules still apply. The default is enabled.",
            "enum": ["enabled", "disabled"]
          },
          "rules": {
            "description": "Modes of rules in this namespace, written as under the top-level key of the same name.",
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": {}
          }
        }
      },
      "default": [],
      "examples": [[{"name": "team-*", "inject": "disabled", "rules": {"MG050": "warn"}}]]
    },
    "exceptions": {
      "description": "Lets named objects break named rules until a date.",
      "type": ["array", "null"],
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["rules", "owner", "reason", "expires"],
        "properties": {
          "rules": {
            "description": "The rules that may be broken, by id or name.",
            "type": "array",
            "minItems": 1,
            "items": {"type": "string"}
          },
          "namespace": {
            "description": "Only in this namespace; a * at the end matches every ending. Left out, in all namespaces.",
            "type": "string"
          },
          "kind": {
            "description": "Only objects of this kind. Left out, objects of every kind.",
            "type": "string"
          },
          "name": {
            "description": "Only the object of this name; a * at the end matches every ending. Left out, every object.",
            "type": "string"
          },
          "owner": {
            "description": "Who answers for the exception.",
            "type": "string",
            "minLength": 1
          },
          "reason": {
            "description": "Why the rule may be broken.",
            "type": "string",
            "minLength": 1
          },
          "expires": {
            "description": "The last day of the exception (2026-12-31, in UTC) or a time (2026-12-31T12:00:00Z).",
            "type": "string",
            "minLength": 1
          }
        }
      },
      "default": [],
      "examples": [[{"rules": ["MG050"], "namespace": "legacy", "name": "llama-*", "owner": "serving team", "reason": "moves to OME in December", "expires": "2026-12-31"}]]
    },
    "graceOverTime": {
      "description": "Seconds after which the scheduler turns a graceful rescheduling into a forced one: the value of grace-over-time in the init-params of volcano-scheduler.",
      "type": "integer",
      "minimum": 2,
      "maximum": 3600
    },
    "superPodSize": {
      "description": "Nodes in one super pod: the value of super-pod-size in the init-params of volcano-scheduler.",
      "type": "integer",
      "minimum": 1,
      "maximum": 1024
    },
    "accelerators": {
      "description": "Rows that are added to the chip-count table, or that replace its row of the same schedule policy and accelerator type.",
      "type": ["array", "null"],
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["nodeChips", "podChips"],
        "properties": {
          "schedulePolicy": {
            "description": "The value of the annotation huawei.com/schedule_policy that selects this row.",
            "type": "string",
            "minLength": 1
          },
          "acceleratorType": {
            "description": "The value of accelerator-type in the nodeSelector that selects this row.",
            "type": "string",
            "minLength": 1
          },
          "nodeChips": {
            "description": "Chips of one node.",
            "type": "integer",
            "minimum": 1,
            "maximum": 1024
          },
          "podChips": {
            "description": "Numbers of chips that one pod may request.",
            "type": "array",
            "minItems": 1,
            "items": {"type": "integer", "minimum": 1, "maximum": 1024}
          },
          "superPod": {
            "description": "True when nodes of this type form super pods, so that sp-block applies. The default is false.",
            "type": "boolean"
          },
          "wholeNodesWhenDistributed": {
            "description": "True when each pod of a job of several pods must take all chips of its node. The default is false.",
            "type": "boolean"
          }
        }
      },
      "default": [],
      "examples": [[{"schedulePolicy": "chip8-node8", "acceleratorType": "module-910b-8", "nodeChips": 8, "podChips": [1, 2, 4, 8]}]]
    }
  }
})json";

// The schema of one framework's profile.
constexpr std::string_view kProfileSchema = R"json({
  "type": ["object", "null"],
  "additionalProperties": false,
  "properties": {
    "faultScheduling": {
      "description": "The label fault-scheduling: what the scheduler does with pods on faulty hardware.",
      "enum": ["", "force", "grace", "external-force", "external-grace", "off", false]
    },
    "podRescheduling": {
      "description": "The label pod-rescheduling: on replaces single pods before whole jobs.",
      "enum": ["", "on", "off", true, false]
    },
    "faultRetryTimes": {
      "description": "The label fault-retry-times: how many pod failures are repaired, 0 or more.",
      "type": ["string", "integer"],
      "minimum": 0
    }
  }
})json";

std::string_view FrameworkTitle(Framework framework) {
  switch (framework) {
    case Framework::kMindIE:
      return "MindIE Motor: AscendJobs with the labels jobID and app.";
    case Framework::kAscendJob:
      return "Other AscendJobs.";
    case Framework::kOme:
      return "OME: InferenceServices and their runtimes.";
    case Framework::kAibrix:
      return "AIBrix: StormServices, RoleSets and PodSets.";
    case Framework::kLeaderWorkerSet:
      return "LeaderWorkerSets.";
    case Framework::kVolcano:
      return "Jobs and CronJobs of Volcano.";
    case Framework::kDeployment:
      return "Plain Deployments and ReplicaSets.";
    case Framework::kStatefulSet:
      return "Plain StatefulSets.";
    case Framework::kJob:
      return "Jobs and CronJobs of Kubernetes.";
    case Framework::kInferOperator:
      return "InferServiceSets, InferServices and InstanceSets.";
    case Framework::kPod:
      return "Pods whose controller mindgate does not know; a pod without a controller gets only "
             "its scheduler and environment.";
  }
  return "";
}

// A summary as a sentence of its own.
std::string Sentence(std::string_view summary) {
  std::string text(summary);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  if (!text.ends_with('.')) text += '.';
  return text;
}

OrderedJson ProfileSchema(Framework framework, const Profile& defaults) {
  OrderedJson schema = OrderedJson::parse(kProfileSchema);
  OrderedJson described = {{"description", FrameworkTitle(framework)}};
  described.update(schema);
  OrderedJson& properties = described["properties"];
  properties["faultScheduling"]["default"] = defaults.fault_scheduling;
  properties["podRescheduling"]["default"] = defaults.pod_rescheduling;
  properties["faultRetryTimes"]["default"] = defaults.fault_retry_times;
  return described;
}

OrderedJson RuleModesSchema(const KnownNames& known) {
  OrderedJson properties = OrderedJson::object();
  for (const KnownNames::Name& rule : known.rules) {
    const OrderedJson entry = {{"description", Sentence(rule.summary)},
                               {"enum", {"enforce", "warn", "audit", "off", false}}};
    properties[std::string(rule.id)] = entry;
    properties[std::string(rule.name)] = entry;
  }
  return properties;
}

// --- the file of defaults --------------------------------------------------------------------

constexpr size_t kWidth = 100;

// Appends comment lines, broken at words.
void Comment(std::string_view text, size_t indent, std::string& out) {
  const std::string margin = std::string(indent, ' ') + "#";
  std::string line = margin;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (line.size() + 1 + end > kWidth && line != margin) {
      out += line + "\n";
      line = margin;
    }
    line += " " + std::string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += line + "\n";
}

// A scalar as one writes it by hand: on and off bare, other text quoted where it must be.
std::string Scalar(const OrderedJson& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  const bool bare =
      text == "on" || text == "off" ||
      (!text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
  return bare ? text : value.dump();
}

// An example in flow style, which is JSON with bare words.
std::string Flow(const OrderedJson& value) {
  std::string out;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      out += (out.empty() ? "" : ", ") + key + ": " + Flow(member);
    }
    return "{" + out + "}";
  }
  if (value.is_array()) {
    for (const auto& item : value) out += (out.empty() ? "" : ", ") + Flow(item);
    return "[" + out + "]";
  }
  return Scalar(value);
}

void Example(const OrderedJson& example, std::string& out) {
  if (example.is_object()) {
    for (const auto& [key, value] : example.items()) {
      Comment("  " + key + ": " + Flow(value), 0, out);
    }
    return;
  }
  for (const auto& item : example) {
    std::string_view lead = "  - ";
    for (const auto& [key, value] : item.items()) {
      out += "#" + std::string(lead) + key + ": " + Flow(value) + "\n";
      lead = "    ";
    }
  }
}

void DescribeItems(const OrderedJson& schema, std::string& out) {
  const auto items = schema.find("items");
  if (items == schema.end()) return;
  for (const auto& [key, member] : (*items)["properties"].items()) {
    Comment("- " + key + ": " + member["description"].get<std::string>(), 0, out);
  }
}

}  // namespace

OrderedJson ConfigSchema(const KnownNames& known) {
  const Config defaults;
  OrderedJson schema = OrderedJson::parse(kSchema);
  OrderedJson& properties = schema["properties"];
  properties["scheduler"]["default"] = defaults.scheduler;
  properties["gangRepair"]["default"] = defaults.gang_repair ? "on" : "off";
  auto& scaling = properties["elasticScaling"]["properties"];
  scaling["mode"]["default"] = EnforcementModeName(defaults.elastic_scaling.mode);
  scaling["upstreamCounts"]["default"] = defaults.elastic_scaling.upstream_counts ? "on" : "off";
  scaling["reservation"]["default"] = defaults.elastic_scaling.reservation;
  scaling["rebalance"]["default"] = EnforcementModeName(defaults.elastic_scaling.rebalance);
  scaling["rebalanceAfter"]["default"] = defaults.elastic_scaling.rebalance_after;
  scaling["coolDown"]["default"] = defaults.elastic_scaling.cool_down;
  scaling["giveUpsPerMinute"]["default"] = defaults.elastic_scaling.give_ups_per_minute;
  properties["maxMode"]["default"] = ModeName(defaults.max_mode);
  properties["graceOverTime"]["default"] = defaults.grace_over_time;
  properties["superPodSize"]["default"] = defaults.super_pod_size;
  for (int i = 0; i < kFrameworkCount; ++i) {
    const auto framework = static_cast<Framework>(i);
    properties["profiles"]["properties"][std::string(FrameworkName(framework))] =
        ProfileSchema(framework, defaults.profile(framework));
  }
  for (const KnownNames::Name& mutator : known.mutators) {
    properties["mutators"]["properties"][std::string(mutator.name)] = {
        {"description", Sentence(mutator.summary)},
        {"enum", {"on", "off", true, false}},
        {"default", "on"}};
  }
  const OrderedJson modes = RuleModesSchema(known);
  properties["rules"]["properties"] = modes;
  properties["namespaces"]["items"]["properties"]["rules"]["properties"] = modes;
  return schema;
}

std::string DefaultConfigFile(const KnownNames& known) {
  const OrderedJson schema = ConfigSchema(known);
  std::string out;
  Comment(
      "mindgate.yaml: the defaults of every key. `mindgate config schema` prints its JSON Schema.",
      0, out);
  Comment(schema["description"].get<std::string>(), 0, out);
  for (const auto& [key, property] : schema["properties"].items()) {
    out += "\n";
    Comment(property["description"].get<std::string>(), 0, out);
    DescribeItems(property, out);
    if (const auto examples = property.find("examples"); examples != property.end()) {
      Comment("For example:", 0, out);
      Comment(key + ":", 0, out);
      Example(examples->front(), out);
    }
    if (const auto value = property.find("default"); value != property.end()) {
      out += key + ": " + Scalar(*value) + "\n";
      continue;
    }
    out += key + ":" + (property["properties"].empty() ? " {}" : "") + "\n";
    for (const auto& [name, member] : property["properties"].items()) {
      Comment(member["description"].get<std::string>(), 2, out);
      out += "  " + name + ":";
      if (const auto value = member.find("default"); value != member.end()) {
        out += " " + Scalar(*value) + "\n";
        continue;
      }
      out += "\n";
      for (const auto& [label, inner] : member["properties"].items()) {
        out += "    " + label + ": " + Scalar(inner["default"]) + "\n";
      }
    }
  }
  return out;
}

}  // namespace mindgate::schemas
