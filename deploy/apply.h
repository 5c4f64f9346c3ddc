#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "deploy/health.h"
#include "deploy/hold.h"
#include "deploy/plan.h"
#include "json/json.h"
#include "kube/wait.h"

namespace mindgate::deploy {

struct ApplyOptions {
  bool force = false;                 // as in PlanOptions
  bool prune = true;                  // delete surplus objects at the end
  bool wait = false;                  // until the application is healthy
  bool atomic = false;                // undo everything when something fails; waits as well
  std::chrono::seconds timeout{600};  // of all waiting together
  // The hold on the application, which is kept while it is changed; null pointer: there is none.
  Hold* hold = nullptr;
  // Called once, when nothing more is written and nothing is going to be undone: before waiting, or
  // with `atomic` when the application is healthy.
  std::function<void()> settled = {};
};

// Told while things happen.
struct Progress {
  std::function<void(const std::string& line)> step;  // "Service chat-mf-store created"
  // What is being waited for; called again and again.
  std::function<void(const Health& health)> waiting = {};
};

enum class Outcome { kDone, kFailed, kTimedOut };

struct ApplyResult {
  Outcome outcome = Outcome::kDone;
  bool forbidden = false;    // why it failed: a right is missing
  std::string message;       // why it failed
  bool rolled_back = false;  // with `atomic`, after a failure: everything is as it was before
  std::vector<std::string> not_undone;  // titles of what is not, though it was tried
  size_t written = 0;                   // objects that were created, changed or deleted
  std::vector<std::string> left = {};   // titles of those that were still to be
};

// Carries out a plan without obstacles: phase by phase, with server-side apply. What it is told to
// wait for is looked at every `kPollTime`. A second run with the same configuration writes nothing,
// and one after an interruption goes on where the first ended.
ApplyResult CarryOut(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                     const Application& application, const Plan& plan, const ApplyOptions& options,
                     const Progress& progress, const std::stop_token& stop);

inline constexpr std::chrono::milliseconds kPollTime{2000};
// What undoing has, whatever deploying has used up.
inline constexpr std::chrono::seconds kUndoTime{300};

// What a manager has applied to an object, as it would be applied again: identity and the fields
// that metadata.managedFields gives it (FieldsV1, k8s.io/apimachinery: pkg/apis/meta/v1). Null when
// the manager has applied nothing.
json::Json AppliedBy(const json::Json& object, std::string_view manager);

// Whether what we applied to the object is still what `stored` has, which the API server answered
// when we did. `seeded`: others write its data.
bool IsAsStored(const json::Json& live, const json::Json& stored, bool seeded);
// Who wrote since: "kubectl-edit", "another mindgate deploy".
std::string WhoChanged(const json::Json& live, const json::Json& stored);

}  // namespace mindgate::deploy
