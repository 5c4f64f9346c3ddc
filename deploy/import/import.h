#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "deploy/check.h"
#include "deploy/config.h"
#include "deploy/import/changes.h"
#include "deploy/import/find.h"
#include "json/issues.h"
#include "schemas/config.h"

namespace mindgate::deploy {

// What deploying the file does to one object.
struct ObjectChange {
  enum class What {
    kNothing,
    kChanges,
    kCreates,
    kLeaves,  // it runs, and the file does not make it: mindgate neither changes nor deletes it
  };
  std::string title;  // "Service chat-router"
  What what = What::kNothing;
  std::vector<FieldChange> fields = {};  // of kChanges
};

struct Imported {
  std::string text;  // the configuration, in the format of its framework
  // It, read again. Nothing when no configuration says what runs; `faults` say why, with places in
  // `text`.
  std::optional<Configuration> configuration;
  json::Issues faults;
  size_t patches = 0;  // entries of `patches:`
  // In the order in which they are deployed, then those of which nothing is made.
  std::vector<ObjectChange> objects;
  // What rules deny of it, and what of the file is better written otherwise.
  json::Issues findings;
};

// Writes the configuration that makes of an application what runs: keys for what keys say, patches
// for the rest (import/patch.h names what is left out on purpose). What deploying it changes is
// what Render and Check make of the written text, compared with what runs field by field. It does
// not depend on a cluster: runtimes and the labels of the namespace are not known to the rules.
Imported Import(const FoundApplication& found, const schemas::Config& config, Time now);

}  // namespace mindgate::deploy
