#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "faults/codes.h"
#include "simulation/pod_text.h"
#include "simulation/scenario.h"
#include "simulation/scenario_table.h"
#include "watcher/frame/decision_log.h"

namespace mindgate::simulation {
namespace {

using schemas::Boolean;
using schemas::Choice;
using schemas::Duration;
using schemas::Field;
using schemas::Key;
using schemas::List;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Parsed;
using schemas::Text;
using schemas::Type;
using schemas::Whole;
using std::chrono::seconds;

Type<std::vector<int64_t>> Chips() { return List(Whole(0, kMaxNpus - 1)); }

// What components report of a fault of the code that stays.
void AddFaultCode(const std::string& text, const std::vector<int64_t>& chips, const Field& field,
                  ReportFaults& report) {
  const faults::FaultCode* code = faults::FaultTable::Shipped().Find(text);
  if (code == nullptr) {
    field.Fault("MindCluster ships no level for fault code " + Quote(text),
                "write a code that `mindgate explain --fault` knows, or unhealthy: [CHIP]");
    return;
  }
  const bool of_node =
      code->source == faults::CodeSource::kNode || code->source == faults::CodeSource::kSwitch;
  if (of_node != chips.empty()) {
    field.Fault(Quote(text) + (of_node ? " is a fault of the whole node, not of chips"
                                       : " is a fault of chips, and none is named"),
                "write {" + Quote(text) + (of_node ? ": []}" : ": [0]}"));
    return;
  }
  const auto effect = faults::EffectOf(code->code, code->source, faults::LevelIfItStays(*code));
  std::string& hardware =
      code->source == faults::CodeSource::kSwitch ? report.switches : report.machine;
  const auto add = [&](std::vector<int64_t>& list) {
    list.insert(list.end(), chips.begin(), chips.end());
  };
  switch (effect) {
    case faults::Effect::kNone:
      break;
    case faults::Effect::kNoNewPods:
      if (of_node) {
        if (hardware == "Healthy") hardware = "PreSeparate";
      } else {
        add(report.network_unhealthy);
      }
      break;
    case faults::Effect::kSubHealth:
      if (of_node) {
        if (hardware == "Healthy") hardware = "SubHealthy";
      } else {
        add(report.sub_healthy);
      }
      break;
    case faults::Effect::kChip:
      add(code->source == faults::CodeSource::kPublic ? report.separated : report.unhealthy);
      break;
    case faults::Effect::kNode:
      hardware = "UnHealthy";
      break;
  }
}

Type<PodsByTime> PodsByTimeType() {
  return Parsed<PodsByTime>(
      schemas::Map(List(NonEmptyText(), 1)),
      [](std::map<std::string, std::vector<std::string>, std::less<>> written, const Field& field) {
        PodsByTime pods;
        for (auto& [text, names] : written) {
          const auto at = ParseDuration(text);
          if (!at) {
            field.Fault(Quote(text) + " is not a time", "write {2m: [train-0]}: pods by the time");
            continue;
          }
          std::vector<std::string>& of_time = pods[*at];
          of_time.insert(of_time.end(), names.begin(), names.end());
          std::sort(of_time.begin(), of_time.end());
        }
        return pods;
      });
}

// What may be the last decision about a job.
std::vector<std::string> LastWords() {
  using Kind = watcher::DecisionKind;
  std::vector<std::string> words = {"nothing"};
  for (const Kind kind : {Kind::kRestarted, Kind::kPodsMarked, Kind::kWouldRestart,
                          Kind::kWouldMarkPods, Kind::kRestartWaits, Kind::kNotRestarted}) {
    words.emplace_back(watcher::WordsOf(kind).word);
  }
  return words;
}

}  // namespace

Type<WatchDelays> WatchDelaysTable() {
  const auto delay = [] { return Duration(seconds(0), kMaxDuration); };
  return Object<WatchDelays>(
      {{"pods", "Of pods.", &WatchDelays::pods, delay()},
       {"podGroups", "Of PodGroups.", &WatchDelays::pod_groups, delay()},
       {"nodes", "Of Nodes: ready, not ready, and gone.", &WatchDelays::nodes, delay()},
       {"faultReports", "Of the ConfigMaps that report faults.", &WatchDelays::fault_reports,
        delay()}});
}

Type<JobSpec> JobTable() {
  return Object<JobSpec>(
      {{"name", "Of its PodGroup. Its pods are NAME-0, NAME-1 and so on.", &JobSpec::name,
        NonEmptyText(), schemas::kRequired},
       {"namespace", "Its namespace.", &JobSpec::ns, NonEmptyText()},
       {"kind",
        "Who owns its pods and recreates them. LeaderWorkerSet is one group, recreated as a whole; "
        "PodSet is one with podGroupSize above 1; StormService one with podGroupSize 1.",
        &JobSpec::kind, Choice<OwnerKind>(OwnerWords())},
       {"pods", "How many pods.", &JobSpec::pods, Whole(1, kMaxJobPods)},
       {"npusPerPod", "NPUs of each.", &JobSpec::npus_per_pod, Whole(0, kMaxNpus)},
       {"minMember",
        "Of its PodGroup: all pods, if not written; 1 for Deployment, OME, StormService and Pod.",
        &JobSpec::min_member, Whole(1, kMaxJobPods)},
       {"priority", "The scheduler places jobs with a higher one first; it ends no pods for them.",
        &JobSpec::priority, Whole(-kMaxPriority, kMaxPriority)},
       {"nodeSelector", "Labels of the nodes that its pods may go to.", &JobSpec::node_selector,
        schemas::Map(Text())},
       {"superPod", "Whether all of its pods must be in one super pod.", &JobSpec::one_super_pod,
        Boolean()},
       {"superPodPods", "Pods of each logical super pod, as sp-block makes them; 0: none.",
        &JobSpec::super_pod_pods, Whole(0, kMaxJobPods)},
       {"labels", "Of its PodGroup and of all pods.", &JobSpec::labels, schemas::Map(Text())},
       {"annotations", "Of its PodGroup.", &JobSpec::annotations, schemas::Map(Text())},
       {"podLabels", "Of its pods and not of its PodGroup.", &JobSpec::pod_labels,
        schemas::Map(Text())},
       {"podAnnotations", "Of its pods.", &JobSpec::pod_annotations, schemas::Map(Text())},
       {"ends", "normally, or never: its pods stay when they are asked to end.",
        &JobSpec::terminates, Choice<bool>({{"normally", true}, {"never", false}})},
       {"startTime", "From placed to running, if not as options say.", &JobSpec::start_time,
        Duration(seconds(0), kMaxDuration)},
       {"terminationTime", "How long a deleted pod stays, if not as options say.",
        &JobSpec::termination_time, Duration(seconds(0), kMaxDuration)}});
}

Type<ReportFaults> ReportTable() {
  return Object<ReportFaults>(
      {{"node", "The node.", &ReportFaults::name, NonEmptyText(), schemas::kRequired},
       {"unhealthy", "Chips that the device plugin calls Unhealthy.", &ReportFaults::unhealthy,
        Chips()},
       {"networkUnhealthy", "Chips that it calls NetworkUnhealthy.",
        &ReportFaults::network_unhealthy, Chips()},
       {"subHealthy", "Chips with a fault of level SubHealthFault.", &ReportFaults::sub_healthy,
        Chips()},
       {"public", "Chips that a public fault separates.", &ReportFaults::separated, Chips()},
       {"machine", "What NodeD calls the machine.", &ReportFaults::machine,
        schemas::Word({"Healthy", "PreSeparate", "UnHealthy"})},
       {"switch", "What its switches are called.", &ReportFaults::switches,
        schemas::Word({"Healthy", "SubHealthy", "UnHealthy"})},
       {"codes",
        "Fault codes that stay, each with its chips: {80E18005: [3]}, or [] for a code of the "
        "machine or a switch. They have the level that MindCluster gives them in time, as "
        "`mindgate explain --fault CODE` says.",
        &ReportFaults::codes, schemas::Map(Chips())},
       {"lasts",
        "After this time the node is reported healthy; without it, when another report says so.",
        &ReportFaults::lasts, Duration(seconds(1), kMaxDuration)}},
      [](ReportFaults& report, const Field& field) {
        for (const auto& [code, chips] : report.codes) AddFaultCode(code, chips, field, report);
      });
}

Type<ChangePod> ChangePodTable() {
  using What = ChangePod::What;
  return Object<ChangePod>(
      {{"name", "The pod.", &ChangePod::pod, NonEmptyText(), schemas::kRequired},
       {"is",
        "failed: its phase is Failed. exited: a container ended with an error and was started "
        "again in place. Separate, SubHealth, software: its label fault-type. healthy: without "
        "that label.",
        &ChangePod::what,
        Choice<What>({{"failed", What::kFailed},
                      {"exited", What::kExited},
                      {"Separate", What::kSeparate},
                      {"SubHealth", What::kSubHealth},
                      {"software", What::kSoftware},
                      {"healthy", What::kHealthy}}),
        schemas::kRequired}});
}

Type<ExternalDeletion> ExternalDeletionTable() {
  return Object<ExternalDeletion>(
      {{"job", "The job, where there are several.", &ExternalDeletion::job_name, NonEmptyText()},
       {"pods", "Its pods that are deleted.", &ExternalDeletion::pods, List(NonEmptyText())},
       {"instance",
        "Else the instance of a service, by name or namespace/name, all of whose pods are deleted.",
        &ExternalDeletion::instance, NonEmptyText()},
       {"force", "With grace period 0.", &ExternalDeletion::by_force, Boolean()},
       {"recorded", "Whether the plugin's job-reschedule-reason says so.",
        &ExternalDeletion::recorded, Boolean()}},
      [](ExternalDeletion& deletion, const Field& field) {
        if (deletion.instance.empty() || (deletion.pods.empty() && deletion.job_name.empty()))
          return;
        field.Fault("what is deleted is either of a job or an instance",
                    "write instance: alone, or job: and pods:");
      });
}

Type<ChangeJob> ChangeJobTable() {
  return Object<ChangeJob>(
      {{"job", "The job, where there are several.", &ChangeJob::job_name, NonEmptyText()},
       {"labels", "Labels of its PodGroup and pods; an empty one is taken away.",
        &ChangeJob::labels, schemas::Map(Text())},
       {"annotations", "Annotations of its PodGroup; likewise.", &ChangeJob::annotations,
        schemas::Map(Text())},
       {"ends", "Whether its pods end from now on: normally, or never.", &ChangeJob::terminates,
        Choice<bool>({{"normally", true}, {"never", false}})}});
}

Type<JobExpectation> JobExpectationTable() {
  using Expected = JobExpectation;
  return Object<Expected>(
      {{"job", "The job, where there are several.", &Expected::job_name, NonEmptyText()},
       {"deleted",
        "Pods that the watcher has deleted with grace period 0 so far, by the time: {2m: "
        "[train-0]}. These and no others; {} is none.",
        &Expected::deleted, PodsByTimeType()},
       {"evicted", "Likewise, with their own grace period.", &Expected::evicted, PodsByTimeType()},
       {"marked", "Likewise, that got huawei.com/pod-status.", &Expected::marked, PodsByTimeType()},
       {"untouched", "The pods that are there since the start and that nobody asked to end.",
        &Expected::untouched, List(NonEmptyText())},
       {"running", "The pods that run.", &Expected::running, List(NonEmptyText())},
       {"last", "What the watcher said last of it.", &Expected::last, schemas::Word(LastWords())},
       {"reason", "Text that the last reason which the watcher gave must contain.",
        &Expected::reason, NonEmptyText()},
       {"retriesUsed", "How many of fault-retry-times are used, as written for the next leader.",
        &Expected::retries_used, Whole(0, 1'000'000'000)},
       {"isolated", "The nodes with the taint mindgate.io/faulty.", &Expected::isolated,
        List(NonEmptyText())}},
      [](Expected& expected, const Field& field) {
        expected.line = field.reading.At(field.path).line;
        for (auto* names : {&expected.untouched, &expected.running, &expected.isolated}) {
          if (*names) std::sort((*names)->begin(), (*names)->end());
        }
        if (field.value.size() > (field.value.contains("job") ? 1U : 0U)) return;
        field.Fault("nothing is expected, so this cannot fail",
                    "write deleted:, evicted:, marked:, untouched:, running:, last:, reason:, "
                    "retriesUsed: or isolated:");
      });
}

}  // namespace mindgate::simulation
