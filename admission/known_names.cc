#include "admission/policy_files.h"
#include "mutators/mutator.h"
#include "policies/engine.h"

namespace mindgate::admission {
namespace {

schemas::KnownNames Collect() {
  schemas::KnownNames known;
  for (const policies::Rule* rule : policies::Catalogue()) {
    known.rules.push_back({rule->name, rule->id, rule->summary});
  }
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    known.mutators.push_back({mutator.name, "", mutator.summary});
  }
  return known;
}

}  // namespace

const schemas::KnownNames& KnownNames() {
  static const schemas::KnownNames known = Collect();
  return known;
}

}  // namespace mindgate::admission
