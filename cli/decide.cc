#include "cli/decide.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/streams.h"
#include "schemas/kinds.h"

namespace mindgate::cli {
namespace {

using admission::Outcome;
using json::Json;
using schemas::Operation;

constexpr const char* kDefaultNamespace = "default";

void Describe(const Json& object, const std::string& default_namespace, Decision& decision) {
  decision.api_version = ApiVersionOf(object);
  decision.kind = KindOf(object);
  decision.name = NameOf(object);
  decision.name_space = EffectiveNamespace(object, default_namespace);
}

}  // namespace

const Json* Decision::ObjectAfter() const {
  return verdict.mutated != nullptr ? verdict.mutated.get() : input.object;
}

json::Position Decision::Place(std::string_view path) const {
  if (input.document == nullptr) return {};
  return input.document->At(input.path + std::string(path));
}

std::string Decision::Title() const {
  std::string title = kind.empty() ? "-" : kind;
  title += ' ';
  if (!name_space.empty()) title += name_space + "/";
  return title + (name.empty() ? "-" : name);
}

std::string EffectiveNamespace(const Json& object, const std::string& default_namespace) {
  std::string own = NamespaceOf(object);
  if (!own.empty()) return own;
  const auto kind = schemas::KindOf(object);
  if (!kind || *kind == schemas::Kind::kClusterServingRuntime) return "";
  return default_namespace;
}

std::vector<Decision> Decide(const std::vector<InputObject>& inputs,
                             const std::vector<const Json*>& old_objects,
                             const RequestOptions& request, const schemas::Config& config,
                             const admission::Options& options) {
  const std::string default_namespace =
      request.name_space.empty() ? kDefaultNamespace : request.name_space;
  std::vector<const Json*> objects;
  for (const InputObject& input : inputs) {
    if (input.object != nullptr) objects.push_back(input.object);
  }
  const KnownObjects known(objects, default_namespace);
  const KnownObjects old(old_objects, default_namespace);

  std::vector<Decision> decisions;
  decisions.reserve(inputs.size());
  for (const InputObject& input : inputs) {
    Decision& decision = decisions.emplace_back();
    decision.input = input;
    if (input.fault) {
      decision.verdict.outcome = Outcome::kError;
      decision.operation = request.operation.value_or(Operation::kCreate);
      continue;
    }
    const Json* named = input.object != nullptr ? input.object : input.old_object;
    const std::string& name_space = input.name_space.empty() ? default_namespace : input.name_space;
    if (named != nullptr) Describe(*named, name_space, decision);

    schemas::AdmissionRequest asked;
    asked.object = input.object;
    asked.objects = &known;
    asked.now = request.now;
    asked.namespace_labels = request.namespace_labels;
    asked.name_space = name_space;
    if (input.from_review) {
      asked.operation = input.operation;
      asked.subresource = input.subresource;
      asked.old_object = input.old_object;
    } else {
      asked.old_object = old.Find(schemas::GroupOf(decision.api_version), decision.kind,
                                  decision.name_space, decision.name);
      asked.operation = request.operation.value_or(
          asked.old_object != nullptr ? Operation::kUpdate : Operation::kCreate);
    }
    decision.operation = asked.operation;
    decision.verdict = admission::Admit(asked, config, options);
  }
  return decisions;
}

int ExitCode(const std::vector<Decision>& decisions) {
  const auto any = [&decisions](auto test) {
    return std::any_of(decisions.begin(), decisions.end(), test);
  };
  if (any([](const Decision& d) { return d.input.fault.has_value(); })) return kExitUnusable;
  const bool denied = any([](const Decision& d) {
    return d.verdict.outcome == Outcome::kDenied || d.verdict.outcome == Outcome::kError;
  });
  return denied ? kExitDenied : kExitDone;
}

}  // namespace mindgate::cli
