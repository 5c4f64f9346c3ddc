#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/console/flags.h"
#include "cli/console/output.h"
#include "cli/console/terminal.h"
#include "kube/access.h"

namespace mindgate::cli {

// What release-gates and release-nodes share: which objects, and what became of each.

struct ReleaseOptions {
  kube::AccessFlags cluster = {};
  // The selected objects: exactly one of these three must be set.
  std::vector<std::string> names = {};
  std::string label_selector = {};
  bool all = false;
  DryRun dry_run = DryRun::kNone;
  bool yes = false;  // skip the confirmation
  OutputFormat output = "text";
};

struct ReleaseWords {
  std::string_view object;       // "pod"
  std::string_view what;         // "gate", of mindgate
  std::string_view consequence;  // "a pod starts as soon as its gate is open"
  std::string_view untouched;    // "no gate was opened"

  std::string objects() const { return std::string(object) + "s"; }
};

// What is wrong with the options; nothing if they are valid.
std::optional<Problem> ProblemOf(const ReleaseOptions& options, const ReleaseWords& words,
                                 const Streams& io);

// The outcome for one object.
struct Released {
  std::string ns{};  // empty: it is in none
  std::string name{};
  std::string outcome{};  // "released", "would be released", "gone", "failed"
  std::string error{};    // of one that failed; reported already
};

// "pod/a in namespace b", "node/n".
std::string TitleOf(const ReleaseWords& words, const std::string& ns, const std::string& name);

// Asks for confirmation where the options want it, releases `count` objects one by one, and prints
// the outcomes, or that nothing was found where no names were given. `missing`: named objects that
// are none of them, reported already. Returns the exit code: kExitDenied if some stay.
int ReleaseEach(size_t count, size_t missing, const std::function<bool()>& is_confirmed,
                const std::function<Released(size_t)>& release, const ReleaseOptions& options,
                const ReleaseWords& words, Streams& io);

struct ReleaseGatesOptions : ReleaseOptions {
  bool all_namespaces = false;
};

// Opens the scheduling gates of mindgate. Returns kExitDenied if some stay closed, a named pod has
// none or the user declines, and kExitUnusable if no pods are selected, confirmation is impossible
// or the cluster cannot be reached.
int RunReleaseGates(const ReleaseGatesOptions& options, Streams& io);

// Takes the taint mindgate.io/faulty:NoSchedule from nodes, and touches nothing else of them: each
// change holds for the resourceVersion that was read, and is made again for a newer one. Returns
// kExitDenied if some stay, a named node has none or the user declines, and kExitUnusable if no
// nodes are selected, confirmation is impossible or the cluster cannot be reached.
int RunReleaseNodes(const ReleaseOptions& options, Streams& io);

}  // namespace mindgate::cli
