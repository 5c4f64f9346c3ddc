#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "schemas/field_types.h"
#include "simulation/scenario.h"

namespace mindgate::simulation {

// A scenario as written: numbers and names are checked one by one, but not what names refer to.

struct WrittenNode {
  std::optional<std::string> name;
  std::optional<std::string> prefix;
  std::optional<int64_t> count;
  int64_t npus = 1;
  Labels labels;
  std::string super_pod;
};

struct WrittenInstance : InstanceSpec {
  std::chrono::seconds at{0};
};

struct WrittenService : ServiceSpec {
  std::vector<WrittenInstance> instances;
};

// Options that change, as they are written; the others stay.
struct WrittenOptions {
  std::function<void(ScenarioOptions&)> change;
};

struct WrittenEntry {
  std::optional<std::chrono::seconds> at;
  std::optional<Action> action;  // with names, but no indices
  WrittenOptions options;        // of SetOptions
  std::string path;              // of the action
};

struct WrittenScenario {
  Scenario scenario;  // name and options
  std::vector<WrittenNode> nodes;
  std::vector<RuleSpec> rules;
  std::vector<WrittenService> services;
  std::vector<JobSpec> jobs;
  std::vector<WrittenEntry> timeline;
};

// Whether an entry means nothing where there are no services, or no jobs.
template <typename Done, typename... Of>
constexpr bool kIsOneOf = (std::is_same_v<Done, Of> || ...);
template <typename Done>
constexpr bool NeedsServices(const Done&) {
  return kIsOneOf<Done, BreakNode, RepairNode, BreakCards, RepairCards, Submit, Delete,
                  FailInstance, FailPod, Rollout, SetRule, DeleteRule, Expectation>;
}
template <typename Done>
constexpr bool NeedsJobs(const Done&) {
  return kIsOneOf<Done, ChangePod, ChangeJob, JobExpectation>;
}
inline bool NeedsServices(const ExternalDeletion& deletion) { return !deletion.instance.empty(); }
inline bool NeedsJobs(const ExternalDeletion& deletion) { return deletion.instance.empty(); }

// The keys of a scenario: how each is read, its documentation and its default.
const schemas::Type<WrittenScenario>& ScenarioTable();

// The JSON Schema (draft 7) of one scenario.
schemas::OrderedJson ScenarioSchema();

// The keys of jobs and of what happens to them.

schemas::Type<WatchDelays> WatchDelaysTable();
schemas::Type<JobSpec> JobTable();
schemas::Type<ReportFaults> ReportTable();
schemas::Type<ChangePod> ChangePodTable();
schemas::Type<ExternalDeletion> ExternalDeletionTable();
schemas::Type<ChangeJob> ChangeJobTable();
schemas::Type<JobExpectation> JobExpectationTable();

}  // namespace mindgate::simulation
