#include "watcher/simulation/scenario_schema.h"

#include <nlohmann/json.hpp>

namespace mindgate::watcher::simulation {
namespace {

using json::Json;

// `false` is listed beside "off" because YAML 1.1 reads that word as a boolean. Durations may be
// numbers here, so that the reader can say which unit is missing.
constexpr std::string_view kSchema = R"json({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "mindgate scenario",
  "description": "A cluster, services on it, what happens to them, and what is expected.",
  "type": "object",
  "additionalProperties": false,
  "required": ["nodes", "rules", "services", "timeline"],
  "properties": {
    "name": {"description": "What the scenario shows.", "type": "string", "minLength": 1},
    "nodes": {
      "description": "The nodes.",
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["npus"],
        "properties": {
          "name": {"description": "The name of one node.", "type": "string", "minLength": 1},
          "count": {"description": "How many nodes like this.", "type": "integer", "minimum": 1, "maximum": 10000},
          "prefix": {"description": "Their names without the number, which begins at 0.", "type": "string", "minLength": 1},
          "npus": {"description": "NPUs of each.", "type": "integer", "minimum": 1, "maximum": 64}
        }
      }
    },
    "rules": {
      "description": "The scaling rules at the start.",
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "text"],
        "properties": {
          "name": {"description": "The ConfigMap.", "type": "string", "minLength": 1},
          "namespace": {"description": "Its namespace.", "type": "string", "minLength": 1, "default": "default"},
          "text": {"description": "elastic_scaling.json, as text or as YAML.", "type": ["string", "object"]}
        }
      }
    },
    "options": {
      "description": "How the watcher decides, and how long things take.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "upstreamCounts": {"description": "Count only what runs.", "type": "boolean", "default": false},
        "rebalance": {"description": "Whether an instance is given up for another.", "enum": ["off", false, "observe", "enforce"], "default": "observe"},
        "rebalanceAfter": {"description": "How long an instance must find no room before.", "type": ["string", "integer"], "minimum": 0},
        "coolDown": {"description": "From one that is given up to the next.", "type": ["string", "integer"], "minimum": 0},
        "reservation": {"description": "How long a grant counts that is not seen.", "type": ["string", "integer"], "minimum": 0},
        "seenAfter": {"description": "From a grant until the pods show it.", "type": ["string", "integer"], "minimum": 0},
        "startTime": {"description": "From placed to running.", "type": ["string", "integer"], "minimum": 0}
      }
    },
    "services": {
      "description": "The inference services.",
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["jobID", "rule"],
        "properties": {
          "jobID": {"description": "Its label jobID.", "type": "string", "minLength": 1},
          "namespace": {"description": "Its namespace.", "type": "string", "minLength": 1, "default": "default"},
          "rule": {"description": "Its label mind-cluster/scaling-rule.", "type": "string", "minLength": 1},
          "instances": {
            "description": "Its instances, submitted at the start or at a time of their own.",
            "type": "array",
            "items": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name"],
              "properties": {
                "at": {"description": "When it is submitted.", "type": ["string", "integer"], "minimum": 0},
                "name": {"description": "Its name.", "type": "string", "minLength": 1},
                "group": {"description": "Its label mind-cluster/group-name.", "type": "string"},
                "pods": {"description": "How many pods.", "type": "integer", "minimum": 1, "maximum": 1000},
                "npusPerPod": {"description": "NPUs of each.", "type": "integer", "minimum": 1, "maximum": 64}
              }
            }
          }
        }
      }
    },
    "timeline": {
      "description": "What happens, and what is expected, in order of time.",
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["at"],
        "properties": {
          "at": {"description": "When: 90s, 5m, 1m30s.", "type": ["string", "integer"], "minimum": 0},
          "breakNode": {"description": "The node that breaks.", "type": "string"},
          "repairNode": {"description": "The node that comes back.", "type": "string"},
          "breakCard": {"description": "NPUs that break, the lowest first.", "type": "object"},
          "repairCard": {"description": "NPUs that come back, the lowest first.", "type": "object"},
          "submit": {"description": "An instance that is submitted.", "type": "object"},
          "delete": {"description": "The instance that is deleted.", "type": "string"},
          "failInstance": {"description": "The instance whose processes exit.", "type": "string"},
          "setRule": {"description": "A rule that is written.", "type": "object"},
          "deleteRule": {
            "description": "A rule that is deleted.",
            "type": ["string", "object"],
            "additionalProperties": false,
            "required": ["name"],
            "properties": {
              "name": {"description": "The ConfigMap.", "type": "string"},
              "namespace": {"description": "Its namespace.", "type": "string", "minLength": 1, "default": "default"}
            }
          },
          "expect": {
            "description": "What must hold; what is left out is not checked.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "service": {"description": "Which service, by jobID, where there are several.", "type": "string"},
              "shape": {"description": "The fullest shape that runs whole: 1 is the fullest of the rule, or none.", "type": ["integer", "string"], "minimum": 1, "maximum": 10000},
              "never": {
                "description": "What must not have happened at any time.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "moreThan": {
                    "description": "Instances that run, by group.",
                    "type": "object",
                    "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 10000}
                  }
                }
              }
            }
          }
        }
      }
    }
  }
})json";

Json Schema() {
  Json schema = Json::parse(kSchema);
  Json& services = schema["properties"]["services"];
  Json& actions = schema["properties"]["timeline"]["items"]["properties"];

  Json& submit = actions["submit"];
  const Json instance = services["items"]["properties"]["instances"]["items"];
  submit.update(instance);
  submit["properties"].erase("at");
  submit["properties"]["service"] = {
      {"description", "Its service, by jobID, where there are several."}, {"type", "string"}};

  const Json rule = schema["properties"]["rules"]["items"];
  actions["setRule"].update(rule);

  const Json cards = {
      {"additionalProperties", false},
      {"required", {"node"}},
      {"properties",
       {{"node", {{"description", "The node."}, {"type", "string"}}},
        {"count",
         {{"description", "How many."}, {"type", "integer"}, {"minimum", 1}, {"maximum", 64}}}}}};
  actions["breakCard"].update(cards);
  actions["repairCard"].update(cards);

  Json& expect = actions["expect"]["properties"];
  for (const char* state : {"running", "starting", "noRoom", "held", "givenUp"}) {
    expect[state] = {
        {"description", "How many instances of each group, or a list of all their names."},
        {"type", {"object", "array"}},
        {"additionalProperties", {{"type", "integer"}, {"minimum", 0}, {"maximum", 10000}}},
        {"items", {{"type", "string"}}}};
  }
  return schema;
}

}  // namespace

const Json& ScenarioSchema() {
  static const Json schema = Schema();
  return schema;
}

}  // namespace mindgate::watcher::simulation
