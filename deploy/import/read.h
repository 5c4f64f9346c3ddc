#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/config.h"
#include "deploy/import/import.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {

// Objects to the keys of a configuration: what the renderers of the frameworks do, backwards. What
// no key says is left to the patches below.

// A configuration or a block of it, with its keys in the order in which they are written.
using Block = nlohmann::ordered_json;

// The configuration without the maps of strings: numbers, names, images, resources, volumes. It
// need not be a valid one: what an object lacks is left out.
Block ReadOme(const FoundApplication& found);
Block ReadAibrix(const FoundApplication& found);

// Adds labels, annotations, node selectors and variables, as far as `rendered`, the objects of
// `document`, does not have them.
void AddOmeMaps(const FoundApplication& found, const std::vector<RenderedObject>& rendered,
                Block& document);
void AddAibrixMaps(const FoundApplication& found, const std::vector<RenderedObject>& rendered,
                   Block& document);

// --- what the frameworks share ---

// The object with this kind and name among those rendered; null: there is none.
const json::Json* RenderedNamed(const std::vector<RenderedObject>& rendered,
                                const std::string& title);

// The item of a list whose name is `name`, the last of several; null: there is none.
const json::Json* Named(const json::Json* list, std::string_view name);

// The text of a variable, the last of several of this name; nothing: there is none, or it comes
// from elsewhere.
std::optional<std::string> VariableText(const json::Json* container, std::string_view name);

// Writes key: number where the variable is a whole number from 1 to kMaxSize.
void PutSize(Block& block, const char* key, const json::Json* container, std::string_view name);
void PutInteger(Block& block, const char* key, const json::Json* holder, std::string_view member);
void PutText(Block& block, const char* key, const json::Json* holder, std::string_view member);

// The resource by which a container asks for NPUs ("huawei.com/Ascend910"); empty: it asks for
// none.
std::string NpuResourceOf(const json::Json* container);
int64_t NpusOf(const json::Json* container, const std::string& resource);

// resources: of memory and processors; nothing where the container has none.
void PutAmounts(Block& block, const json::Json* container);

// tolerations, pull secrets, the PriorityClass, and volumes that the container mounts once, with
// one source. `own`: names of volumes that a renderer makes.
void PutExtras(Block& block, const json::Json* pod_spec, const json::Json* container,
               std::initializer_list<std::string_view> own, const ExtraNames& names);

// The strings that `runs` has and `rendered` has not, or not so, without those of `skipped`.
void PutMap(Block& block, const char* key, const json::Json* runs, const json::Json* rendered,
            std::initializer_list<std::string_view> skipped = {});
// env_vars: variables with a text that `rendered` has not, or not so.
void PutVariables(Block& block, const json::Json* runs, const json::Json* rendered,
                  std::initializer_list<std::string_view> skipped = {});

// The entries of `patches:` that make of `rendered`, the objects of a configuration without
// patches, what runs. One for each object, or one without a name where all objects of a kind need
// the same. A list of {kind, name, patch}; `patch` is merged (deploy/render.h).
//
// Not kept, so that deploying changes it, is what mindgate writes otherwise on purpose:
// - labels, annotations, numbers of replicas and readiness probes that only mindgate writes;
// - the labels and the annotation by which mindgate knows its objects;
// - of the store: more replicas than the one in which engine and decoder meet, probes of a path,
// and
//   a port other than that of its container, which nobody reaches;
// - the size of a gang that the old template wrote. That of a user is a key of the file.
json::Json PatchesToward(const FoundApplication& found,
                         const std::vector<RenderedObject>& rendered);

}  // namespace mindgate::deploy
