#pragma once

#include <span>
#include <string_view>

#include "admission/mutators/edits.h"
#include "schemas/config.h"
#include "schemas/request.h"
#include "schemas/workload.h"

// A mutator writes only what is missing, never overrides what the user set, and yields nothing on
// its own output.
namespace mindgate::mutators {

class TemplateHistory;

struct MutationContext {
  const schemas::WorkloadView& view;
  const schemas::WorkloadView* old_view;  // on UPDATE, when the old object is known
  const schemas::AdmissionRequest& request;
  const schemas::Config& config;
  bool opted_in;  // mindgate.io/inject: enabled, so templates without a visible NPU request count
                  // as well
  bool explain = true;  // keep what is withheld, and why
  // On UPDATE: what the old object lacks is not injected, since a rule would deny it.
  bool put_back_only = false;
  const TemplateHistory* history = nullptr;  // of the view's templates; Mutate sets it
};

struct Mutator {
  std::string_view name;     // "fault-scheduling"
  std::string_view summary;  // one line for people
  // Its documentation: whole sentences.
  std::string_view writes;    // what, and with which value
  std::string_view where;     // into which objects, and where in them
  std::string_view withheld;  // when it writes nothing there, and why
  void (*run)(const MutationContext& context, Edits& edits);
  bool of_children = false;  // also runs on what a controller makes that was injected itself
};

// All mutators, in the order they run: what a user put elsewhere is copied before defaults are
// chosen.
std::span<const Mutator> Mutators();

// Runs every enabled mutator. Nothing is written to objects that are being deleted, to children of
// a controller that was injected itself (but by Mutator::of_children), in opted-out objects and
// namespaces, and on operations other than CREATE and UPDATE. An UPDATE of what cannot change after
// creation gets back what was injected then and is left out now, and no more; a job or pod that was
// injected before its owner opted out keeps what cannot change.
Edits Mutate(const MutationContext& asked);

// --- what mutators share ---

// An UPDATE of a kind whose template cannot change after creation, or one with put_back_only: only
// what the stored object has is put back (Edits::PutBackFrom).
bool PutsBack(const MutationContext& context);

// True when this template is one that mindgate injects: it requests NPUs, or the object is opted in
// and it is not a router.
bool IsInjected(const MutationContext& context, const schemas::PodTemplateView& pod);

// True when the request may change this template: on CREATE always, when there is one; on UPDATE
// only when the user changed it (an untouched template must stay byte-identical, or every later
// update starts a rollout).
bool MayEdit(const MutationContext& context, const schemas::PodTemplateView& pod);

// The same template in the old object: of its name, and where several have that name at its place,
// else the first. Null pointer when there is none.
const schemas::PodTemplateView* OldTemplate(const MutationContext& context,
                                            const schemas::PodTemplateView& pod);

// True when the template's pods are (or will be, once injected) scheduled by Volcano.
bool IsScheduledByVolcano(const MutationContext& context, const schemas::PodTemplateView& pod);

}  // namespace mindgate::mutators
