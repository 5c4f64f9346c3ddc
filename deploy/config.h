#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "deploy/application.h"
#include "json/issues.h"
#include "json/positions.h"
#include "schemas/field_types.h"

namespace mindgate::deploy {

// The configuration of an application, read.
struct Configuration {
  Application application;
  json::Json document;        // as it was written
  json::Positions positions;  // of its values
  json::Issues warnings;      // what is accepted and should be written differently
};

// Reads a configuration file: isvc-config.yaml or stormservice-config.yaml as mindcluster-deploy
// has them, or our own for MindIE Motor; YAML 1.2 with its core schema. `framework:` says which it
// is, else `fallback` (the variable SERVING_FRAMEWORK, empty when it is not set), else the block
// that is there. All faults at once, each with its place.
tl::expected<Configuration, json::Issues> ReadConfiguration(std::string_view text,
                                                            std::string_view fallback = {});

// The same for one document that was decoded already.
tl::expected<Configuration, json::Issues> ReadConfiguration(json::Json document,
                                                            json::Positions positions,
                                                            std::string_view fallback = {});

// The JSON Schema (draft 7) of the configuration of a framework.
schemas::OrderedJson ConfigurationSchema(Framework framework);

}  // namespace mindgate::deploy
