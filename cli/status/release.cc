#include "cli/status/release.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/problem.h"
#include "cli/console/commands.h"

namespace mindgate::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson JsonOf(const std::vector<Released>& objects, DryRun dry_run,
                   const ReleaseWords& words) {
  OrderedJson list = OrderedJson::array();
  for (const Released& object : objects) {
    OrderedJson entry = OrderedJson::object();
    if (!object.ns.empty()) entry["namespace"] = object.ns;
    entry["name"] = object.name;
    entry["outcome"] = object.outcome;
    if (!object.error.empty()) entry["error"] = object.error;
    list.push_back(std::move(entry));
  }
  return {{"dryRun", DryRunName(dry_run)}, {words.objects(), std::move(list)}};
}

// Returns what PrintOutput does.
int PrintReleased(const std::vector<Released>& objects, const ReleaseOptions& options,
                  const ReleaseWords& words, Streams& io) {
  const auto names = [&] {
    std::vector<std::string> lines;
    for (const Released& object : objects) {
      if (object.outcome != "failed") lines.push_back(TitleOf(words, "", object.name));
    }
    return lines;
  };
  const auto text = [&](std::ostream& out, bool) {
    for (const Released& object : objects) {
      if (object.outcome == "failed") continue;  // already reported on standard error
      out << TitleOf(words, object.ns, object.name) << " "
          << (object.outcome == "gone" ? "skipped: it was deleted or already released"
                                       : object.outcome)
          << (options.dry_run == DryRun::kServer ? " (server dry run)" : "") << "\n";
    }
    if (objects.empty() && options.names.empty()) {
      out << "no " << words.objects() << " have a " << words.what << " of mindgate\n";
    }
  };
  return PrintOutput(options.output,
                     {.document = [&] { return JsonOf(objects, options.dry_run, words); },
                      .names = names,
                      .text = text},
                     io);
}

}  // namespace

std::optional<Problem> ProblemOf(const ReleaseOptions& options, const ReleaseWords& words,
                                 const Streams& io) {
  const int ways = static_cast<int>(!options.names.empty()) +
                   static_cast<int>(!options.label_selector.empty()) +
                   static_cast<int>(options.all);
  const std::string objects = words.objects();
  if (ways == 0) {
    return Problem{"no " + objects + " are selected, and " + std::string(words.consequence),
                   "give " + std::string(words.object) +
                       " names, -l SELECTOR or --all; --dry-run lists " + "the " + objects};
  }
  if (ways > 1) {
    return Problem{"names, -l and --all cannot be combined", "use only one of them"};
  }
  if (options.dry_run == DryRun::kNone && !options.yes && !io.in_is_terminal) {
    return Problem{"cannot ask for confirmation: standard input is not a terminal",
                   "use --yes to skip the question, or --dry-run to list the " + objects};
  }
  return std::nullopt;
}

std::string TitleOf(const ReleaseWords& words, const std::string& ns, const std::string& name) {
  return std::string(words.object) + "/" + name + (ns.empty() ? "" : " in namespace " + ns);
}

int ReleaseEach(size_t count, size_t missing, const std::function<bool()>& is_confirmed,
                const std::function<Released(size_t)>& release, const ReleaseOptions& options,
                const ReleaseWords& words, Streams& io) {
  const bool asks = options.dry_run == DryRun::kNone && !options.yes && count > 0;
  if (asks && !is_confirmed()) {
    io.err << "canceled: " << words.untouched << "\n";
    return kExitDenied;
  }
  std::vector<Released> objects;
  bool all = missing == 0;
  for (size_t i = 0; i < count; ++i) {
    objects.push_back(release(i));
    if (objects.back().error.empty()) continue;
    PrintError(io.err, objects.back().error);
    all = false;
  }
  const int code = PrintReleased(objects, options, words, io);
  if (code != kExitDone) return code;
  return all ? kExitDone : kExitDenied;
}

}  // namespace mindgate::cli
