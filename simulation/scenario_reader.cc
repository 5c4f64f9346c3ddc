#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "simulation/scenario.h"
#include "simulation/scenario_table.h"

namespace mindgate::simulation {
namespace {

using json::Child;
using std::chrono::seconds;

// Finds what names refer to, and follows what is there at which time.
class Resolver {
 public:
  Resolver(WrittenScenario written, const json::Json& root, schemas::ReadContext& reading)
      : written_(std::move(written)),
        scenario_(std::move(written_.scenario)),
        root_(root),
        reading_(reading),
        options_(scenario_.options) {}

  Scenario Resolve() {
    ResolveNodes();
    ResolveRules();
    ResolveServices();
    ResolveJobs();
    ResolveTimeline();
    Order();
    return std::move(scenario_);
  }

 private:
  using FullName = std::pair<std::string, std::string>;  // namespace and name of an instance

  void Fault(const std::string& path, std::string message, std::string hint) {
    reading_.Fault(path, std::move(message), std::move(hint));
  }

  // Looking for a near miss takes time: not for faults that are not shown.
  template <typename Names>
  void Unknown(const std::string& path, std::string message, const std::string& written,
               const Names& known, std::string hint) {
    if (reading_.fault_count() < json::Issues::kMax) {
      std::vector<std::string_view> words(known.begin(), known.end());
      std::erase(words, "");
      if (const auto near = NearestOf(written, words)) hint = "did you mean " + Quote(*near) + "?";
    }
    Fault(path, std::move(message), std::move(hint));
  }

  bool TooMany(const std::string& path, size_t count, size_t most, std::string_view what) {
    if (count <= most) return false;
    Fault(path,
          std::to_string(count) + " " + std::string(what) + " are more than the " +
              std::to_string(most) + " that can be played",
          "write fewer, or split the scenario");
    return true;
  }

  void ResolveNodes() {
    size_t total = 0;
    for (size_t i = 0; i < written_.nodes.size(); ++i) {
      const WrittenNode& node = written_.nodes[i];
      const std::string path = Child("/nodes", i);
      if (node.name ? node.prefix || node.count : !node.prefix || !node.count) {
        Fault(path, "a node has either a name, or a prefix and a count",
              "write name: npu-0, or prefix: npu- and count: 3");
        continue;
      }
      total += static_cast<size_t>(node.count.value_or(1));
      if (TooMany(path, total, kMaxNodes, "nodes")) return;
      if (node.name) AddNode(*node.name, node, path);
      for (int64_t n = 0; n < node.count.value_or(0); ++n) {
        AddNode(*node.prefix + std::to_string(n), node, path);
      }
    }
    std::sort(scenario_.nodes.begin(), scenario_.nodes.end(),
              [](const NodeSpec& a, const NodeSpec& b) { return NaturalLess(a.name, b.name); });
    for (size_t i = 0; i < scenario_.nodes.size(); ++i) nodes_[scenario_.nodes[i].name] = i;
  }

  void AddNode(std::string name, const WrittenNode& node, const std::string& path) {
    if (!nodes_.emplace(name, 0).second) {
      Fault(path, "there is a node " + Quote(name) + " above", "give each node a unique name");
      return;
    }
    scenario_.nodes.push_back({std::move(name), node.npus, node.labels, node.super_pod});
  }

  // Rules that are there at some time.
  void ResolveRules() {
    scenario_.rules = std::move(written_.rules);
    for (size_t i = 0; i < scenario_.rules.size(); ++i) {
      const RuleKey& key = scenario_.rules[i].key;
      if (rules_.insert(key).second) continue;
      Fault(Child(Child("/rules", i), "name"),
            "there is a rule " + Quote(key.name) + " in this namespace above",
            "to change a rule later write setRule: in the timeline");
    }
    for (const WrittenEntry& entry : written_.timeline) {
      if (const auto* set = std::get_if<SetRule>(&*entry.action)) rules_.insert(set->rule.key);
    }
  }

  void CheckRule(const std::string& path, const RuleKey& key) {
    if (rules_.contains(key)) return;
    std::vector<std::string_view> known;
    for (const RuleKey& rule : rules_) {
      if (rule.ns == key.ns) known.push_back(rule.name);
    }
    Unknown(
        path,
        "there is no rule " + Quote(key.name) + " in namespace " + Quote(key.ns) + " at any time",
        key.name, known, "add it to rules:, or write setRule: in the timeline");
  }

  void ResolveServices() {
    std::map<std::string, size_t> of_job_id;
    for (const WrittenService& service : written_.services) ++of_job_id[service.job_id];
    for (size_t i = 0; i < written_.services.size(); ++i) {
      WrittenService& service = written_.services[i];
      const std::string path = Child("/services", i);
      const std::string full_name = service.rule.ns + "/" + service.job_id;
      if (!services_.emplace(full_name, i).second) {
        Fault(Child(path, "jobID"), "another service has the jobID " + Quote(service.job_id),
              "give each service of a namespace a unique jobID: expect: names services by it");
      }
      const bool alone = of_job_id[service.job_id] == 1;
      if (alone) services_.emplace(service.job_id, i);
      CheckRule(Child(path, "rule"), service.rule);
      scenario_.services.push_back(service);
      scenario_.services.back().name = alone ? service.job_id : full_name;
      for (size_t n = 0; n < service.instances.size(); ++n) {
        WrittenInstance& instance = service.instances[n];
        instance.service = i;
        Know(instance);
        const auto at = instance.at;
        Add(at, Submit{std::move(instance)}, Child(Child(path, "instances"), n));
      }
    }
  }

  void Know(const InstanceSpec& instance) {
    names_.insert(instance.name);
    groups_.insert(instance.group);
  }

  const std::string& NamespaceOf(const InstanceSpec& instance) const {
    return scenario_.services[instance.service].rule.ns;
  }

  void ResolveJobs() {
    if (TooMany("/jobs", written_.jobs.size(), kMaxJobs, "jobs")) return;
    size_t pods = 0;
    for (size_t i = 0; i < written_.jobs.size(); ++i) {
      const JobSpec& job = written_.jobs[i];
      pods += static_cast<size_t>(job.pods);
      if (!IsDns1123Label(job.name)) {
        Fault(Child(Child("/jobs", i), "name"), "a pod cannot have a name that begins like this",
              "write lower-case letters, digits and '-'");
      }
      if (!jobs_.emplace(job.name, i).second) {
        Fault(Child(Child("/jobs", i), "name"), "there is a job " + Quote(job.name) + " above",
              "give each job a unique name");
      }
    }
    TooMany("/jobs", pods, kMaxAllJobPods, "pods");
    scenario_.jobs = std::move(written_.jobs);
  }

  template <typename Done>
  void CheckFits(const Done& action, const std::string& path) {
    if (scenario_.services.empty() && NeedsServices(action)) {
      Fault(path, "this happens to services, but the scenario has jobs",
            "write report:, notReady:, removeNode:, pod: or expectJob:");
    } else if (scenario_.jobs.empty() && NeedsJobs(action)) {
      Fault(path, "this happens to jobs, but the scenario has services",
            "write breakNode:, breakCard:, failPod: or expect:");
    }
  }

  // Without faults nothing is reported, and one delay is for all watches.
  void CheckOptionsFit(const std::string& path) {
    const json::Json::json_pointer place(path);
    if (scenario_.has_faults || !root_.contains(place)) return;
    for (const char* key : {"watchDelays", "clusterD"}) {
      if (!root_.at(place).is_object() || !root_.at(place).contains(key)) continue;
      Fault(Child(path, key), "this is for jobs, but the scenario has none",
            key == std::string_view("clusterD")
                ? "leave it out"
                : "write watchDelay:, which is for all watches of the watcher");
    }
  }

  // Whether there is anything that rescheduling is about.
  bool HasFaults() const {
    return !scenario_.jobs.empty() ||
           std::any_of(scenario_.services.begin(), scenario_.services.end(),
                       [](const ServiceSpec& service) { return !service.labels.empty(); }) ||
           std::any_of(written_.timeline.begin(), written_.timeline.end(),
                       [](const WrittenEntry& entry) {
                         return std::holds_alternative<ReportFaults>(*entry.action) ||
                                std::holds_alternative<RemoveNode>(*entry.action);
                       });
  }

  // A report that lasts for a while ends with one that the node is healthy, unless another one of
  // the node comes before.
  void AddRecoveries() {
    struct Recovery {
      seconds at{0};
      std::string path;
    };
    std::map<std::string, Recovery> due;  // by node
    const auto add = [this](const std::string& name, Recovery& recovery) {
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) return;
      ReportFaults healthy;
      healthy.name = name;
      healthy.node = node->second;
      Add(recovery.at, std::move(healthy), std::move(recovery.path));
    };
    for (const WrittenEntry& entry : written_.timeline) {
      const auto* report = std::get_if<ReportFaults>(&*entry.action);
      if (report == nullptr) continue;
      if (const auto before = due.extract(report->name); before && before.mapped().at < *entry.at) {
        add(before.key(), before.mapped());
      }
      if (report->lasts) due[report->name] = {*entry.at + *report->lasts, entry.path};
    }
    for (auto& [name, recovery] : due) add(name, recovery);
  }

  void ResolveTimeline() {
    scenario_.has_faults = HasFaults();
    CheckOptionsFit("/options");
    std::vector<WrittenEntry>& timeline = written_.timeline;
    if (TooMany("/timeline", timeline.size(), kMaxEntries, "entries")) return;
    size_t expectations = 0;
    for (const WrittenEntry& entry : timeline) {
      // What is expected may name instances and groups that come later in the file.
      if (const auto* submit = std::get_if<Submit>(&*entry.action)) Know(submit->instance);
      expectations += std::holds_alternative<Expectation>(*entry.action) ||
                              std::holds_alternative<JobExpectation>(*entry.action)
                          ? 1
                          : 0;
    }
    if (TooMany("/timeline", expectations, kMaxExpectations, "expectations")) return;
    ResolveRollouts();
    AddRecoveries();
    for (WrittenEntry& entry : timeline) {
      if (auto* set = std::get_if<SetOptions>(&*entry.action)) {
        CheckOptionsFit(entry.path);
        entry.options.change(options_);
        set->options = options_;
      }
      time_ = *entry.at;
      std::visit([&](auto& action) { Resolve(action, entry.path); }, *entry.action);
      Add(*entry.at, *std::move(entry.action), std::move(entry.path));
    }
  }

  // Whose rolling updates replace which instances: a Deployment is all that one entry names.
  void ResolveRollouts() {
    std::vector<InstanceSpec*> specs;
    for (Entry& entry : scenario_.timeline) {
      if (auto* submit = std::get_if<Submit>(&entry.action)) specs.push_back(&submit->instance);
    }
    for (WrittenEntry& entry : written_.timeline) {
      if (auto* submit = std::get_if<Submit>(&*entry.action)) {
        submit->instance.service = ServiceOf(submit->instance.job_id, entry.path);
        specs.push_back(&submit->instance);
      }
    }
    for (WrittenEntry& entry : written_.timeline) {
      if (auto* rollout = std::get_if<Rollout>(&*entry.action)) {
        ResolveRollout(*rollout, specs, entry.path);
      }
    }
  }

  void ResolveRollout(Rollout& rollout, const std::vector<InstanceSpec*>& specs,
                      const std::string& path) {
    rollout.service = ServiceOf(rollout.job_id, path);
    const std::string member = rollout.group.empty() ? "instances" : "group";
    rollout.workload = rollout.group.empty() ? Join(rollout.instances, "-") : rollout.group;
    const int64_t revision = ++revisions_[{rollout.service, rollout.workload}] + 1;
    std::set<std::string> found;
    for (InstanceSpec* spec : specs) {
      const bool is_meant = rollout.group.empty() ? std::count(rollout.instances.begin(),
                                                               rollout.instances.end(), spec->name)
                                                  : spec->group == rollout.group;
      if (!is_meant || spec->service != rollout.service) continue;
      found.insert(spec->name);
      const auto refuse = [&](const char* why, const char* hint) {
        Fault(Child(path, member), "there can be no rollout of " + Quote(spec->name) + ": " + why,
              hint);
      };
      if (spec->pods > 1) {
        refuse("it has several pods", "write pods: 1, since a Deployment replaces single pods");
      } else if (!IsDns1123Label(spec->name)) {
        refuse("a pod cannot have this name", "write lower-case letters, digits and '-'");
      } else if (!spec->workload.empty() && spec->workload != rollout.workload) {
        refuse("it belongs to another rollout", "write the same group or instances each time");
      }
      spec->workload = rollout.workload;
      for (const std::string& name : {spec->name + "-r" + std::to_string(revision), spec->name}) {
        made_.insert({NamespaceOf(*spec), name});
        names_.insert(name);
      }
    }
    if (!rollout.group.empty() && found.empty()) CheckGroups({{rollout.group, 1}}, path);
    for (size_t i = 0; i < rollout.instances.size(); ++i) {
      if (found.contains(rollout.instances[i])) continue;
      Fault(Child(Child(path, "instances"), i),
            "the service has no instance " + Quote(rollout.instances[i]),
            "write the name of one of its instances");
    }
  }

  // Where a name is that may also be a member of an object.
  std::string NamePath(const std::string& path, std::string_view member) const {
    return json::Resolve(root_, path)->is_object() ? Child(path, member) : path;
  }

  template <typename Done>
  void Resolve(Done& action, const std::string& path) {
    CheckFits(action, path);
    if constexpr (requires { action.job_name; }) {
      if (!NeedsJobs(action)) return;
      if (action.job_name.empty() && scenario_.jobs.size() > 1) {
        Fault(path, "there are several jobs, but this entry names none", "add job: with a name");
      } else if (!action.job_name.empty()) {
        action.job = IndexOf(action.job_name, jobs_, Child(path, "job"),
                             "there is no job " + Quote(action.job_name), "add it to jobs:");
      }
    }
    if constexpr (requires { action.node; }) {
      action.node = IndexOf(action.name, nodes_, NamePath(path, "node"),
                            "there is no node " + Quote(action.name), "add it to nodes:");
    } else if constexpr (std::is_same_v<Done, DeleteRule>) {
      CheckRule(NamePath(path, "name"), action.rule);
    } else if constexpr (std::is_same_v<Done, Expectation>) {
      ResolveExpectation(action, path);
    }
  }

  void ResolveExpectation(Expectation& action, const std::string& path) {
    action.service = ServiceOf(action.job_id, path);
    ResolveClaims(action.claims, path);
    const std::string never = Child(path, "never");
    CheckGroups(action.never.more_than, Child(never, "moreThan"));
    CheckNames(action.never.given_up, Child(never, "givenUp"));
    CheckNames(action.never.withdrawn, Child(never, "withdrawn"));
    for (const auto& [name, text] : action.reasons) {
      CheckName(name, Child(Child(path, "reason"), name));
    }
    if (!action.always) return;
    const std::string always = Child(path, "always");
    ResolveClaims(action.always->claims, always);
    CheckGroups(action.always->at_least, Child(always, "atLeast"));
    CheckGroups(action.always->at_most, Child(always, "atMost"));
    if (action.always->to > time_) {
      Fault(Child(always, "to"),
            FormatDuration(action.always->to) + " is after this entry, at " + FormatDuration(time_),
            "write the entry at that time or later");
    }
  }

  void ResolveClaims(std::vector<Claim>& claims, const std::string& path) {
    for (Claim& claim : claims) {
      const std::string at = Child(path, StateName(claim.state));
      CheckGroups(claim.counts, at);
      if (!claim.names) continue;
      CheckNames(*claim.names, at);
      std::sort(claim.names->begin(), claim.names->end());
    }
  }

  void CheckNames(const std::vector<std::string>& names, const std::string& path) {
    for (size_t i = 0; i < names.size(); ++i) CheckName(names[i], Child(path, i));
  }

  size_t IndexOf(const std::string& name, const std::map<std::string, size_t, std::less<>>& indices,
                 const std::string& path, std::string message, std::string hint) {
    const auto found = indices.find(name);
    if (found != indices.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& [each, index] : indices) known.push_back(each);
    Unknown(path, std::move(message), name, known, std::move(hint));
    return 0;
  }

  size_t ServiceOf(const std::string& job_id, const std::string& path) {
    if (!job_id.empty()) {
      const auto same =
          std::count_if(scenario_.services.begin(), scenario_.services.end(),
                        [&](const ServiceSpec& service) { return service.job_id == job_id; });
      if (same > 1 && !services_.contains(job_id)) {
        Fault(Child(path, "service"),
              "services of several namespaces have the jobID " + Quote(job_id),
              "write namespace/jobID");
        return 0;
      }
      return IndexOf(job_id, services_, Child(path, "service"),
                     "no service has the jobID " + Quote(job_id), "add it to services:");
    }
    if (scenario_.services.size() > 1) {
      Fault(path, "there are several services, but this entry names none",
            "add service: with a jobID");
    }
    return 0;
  }

  void CheckGroups(const Counts& counts, const std::string& path) {
    for (const auto& [group, count] : counts) {
      if (groups_.contains(group)) continue;
      Unknown(Child(path, group), "no instance is of group " + Quote(group), group, groups_,
              "write the group of an instance");
    }
  }

  void CheckName(const std::string& name, const std::string& path) {
    if (names_.contains(name)) return;
    Unknown(path, "there is no instance " + Quote(name) + " at any time", name, names_,
            "write the name of an instance");
  }

  void Add(seconds at, Action action, std::string path) {
    scenario_.timeline.push_back({at, std::move(action)});
    paths_.push_back(std::move(path));
  }

  // Puts instances of services among the entries, and follows which are there.
  void Order() {
    std::vector<size_t> order(scenario_.timeline.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return scenario_.timeline[a].at < scenario_.timeline[b].at;
    });
    FindNamespaces();
    std::vector<Entry> timeline;
    std::set<FullName> there;
    std::map<FullName, int64_t> pods_of;
    size_t submitted = 0;
    int64_t pods = 0;
    for (const size_t i : order) {
      Action& action = scenario_.timeline[i].action;
      if (const auto* submit = std::get_if<Submit>(&action)) {
        const FullName name{NamespaceOf(submit->instance), submit->instance.name};
        ++submitted;
        pods += submit->instance.pods;
        pods_of[name] = submit->instance.pods;
        if (!there.insert(name).second) {
          Fault(Child(paths_[i], "name"), "there is an instance " + Quote(name.second) + " already",
                "give each instance of a namespace a unique name: entries name instances without "
                "a service");
        }
        CheckGroup(*submit, Child(paths_[i], "name"));
      }
      std::visit(
          [&](auto& done) {
            if constexpr (std::is_base_of_v<ToInstance, std::decay_t<decltype(done)>>) {
              if (NeedsServices(done)) {
                ResolveInstance(done, there, NamePath(paths_[i], "instance"));
              }
            }
          },
          action);
      if (const auto* removal = std::get_if<Delete>(&action)) {
        there.erase({removal->ns, removal->instance});
      } else if (const auto* pod = std::get_if<FailPod>(&action)) {
        CheckPod(*pod, pods_of, Child(paths_[i], "pod"));
      }
      timeline.push_back(std::move(scenario_.timeline[i]));
    }
    TooMany("/services", submitted, kMaxInstances, "instances");
    TooMany("/services", static_cast<size_t>(pods), kMaxAllPods, "pods");
    scenario_.timeline = std::move(timeline);
  }

  void FindNamespaces() {
    for (const Entry& entry : scenario_.timeline) {
      if (const auto* submit = std::get_if<Submit>(&entry.action)) {
        namespaces_[submit->instance.name].insert(NamespaceOf(submit->instance));
      }
    }
    for (const auto& [ns, name] : made_) namespaces_[name].insert(ns);
  }

  // Splits namespace/name; a name alone stands for the only instance that has it.
  void ResolveInstance(ToInstance& action, const std::set<FullName>& there,
                       const std::string& path) {
    const std::string written = action.instance;
    const auto found = namespaces_.find(written);
    if (found == namespaces_.end()) {
      const size_t slash = written.find('/');
      if (slash != std::string::npos) {
        action.ns = written.substr(0, slash);
        action.instance = written.substr(slash + 1);
      }
    } else if (found->second.size() == 1) {
      action.ns = *found->second.begin();
    } else {
      Fault(path, "instances of several namespaces have the name " + Quote(written),
            "write namespace/name");
      return;
    }
    const FullName name{action.ns, action.instance};
    if (there.contains(name) || made_.contains(name)) return;
    std::set<std::string> known;
    for (const auto& [ns, instance] : there) known.insert(instance);
    Unknown(path, "there is no instance " + Quote(written) + " at that time", written, known,
            "submit it before");
  }

  // An instance that is rescheduled has a PodGroup of its name, as a job has.
  void CheckGroup(const Submit& action, const std::string& path) {
    const InstanceSpec& instance = action.instance;
    const auto job = jobs_.find(instance.name);
    if (job == jobs_.end() || scenario_.services[instance.service].labels.empty() ||
        scenario_.jobs[job->second].ns != NamespaceOf(instance)) {
      return;
    }
    Fault(path, "there is a job " + Quote(instance.name) + ", whose PodGroup has this name",
          "give the instance another name");
  }

  void CheckPod(const FailPod& action, const std::map<FullName, int64_t>& pods_of,
                const std::string& path) {
    const auto found = pods_of.find({action.ns, action.instance});
    const int64_t pods = found == pods_of.end() ? 1 : found->second;
    if (action.pod < pods) return;
    Fault(path,
          "instance " + Quote(action.instance) + " has no pod " + std::to_string(action.pod) +
              ", but " + std::to_string(pods) + " from 0",
          "write " + std::to_string(pods - 1) + " or less");
  }

  WrittenScenario written_;
  Scenario scenario_;
  const json::Json& root_;
  schemas::ReadContext& reading_;
  std::map<std::string, size_t, std::less<>> nodes_;
  std::map<std::string, size_t, std::less<>> services_;
  std::map<std::string, size_t, std::less<>> jobs_;
  std::set<RuleKey> rules_;
  std::set<std::string> names_;   // of instances
  std::set<std::string> groups_;  // that instances have
  std::set<FullName> made_;       // instances that rolling updates make and replace
  std::map<std::string, std::set<std::string>> namespaces_;      // of instances, by their names
  std::map<std::pair<size_t, std::string>, int64_t> revisions_;  // by service and workload
  ScenarioOptions options_;         // as they are after the entries so far
  seconds time_{0};                 // of the entry
  std::vector<std::string> paths_;  // of scenario_.timeline before it is ordered
};

}  // namespace

std::string_view StateName(Claim::State state) {
  constexpr std::array kNames = std::to_array<std::string_view>(
      {"running", "starting", "noRoom", "held", "givenUp", "withdrawn", "wouldGiveUp"});
  static_assert(kNames.size() == static_cast<size_t>(Claim::State::kWouldGiveUp) + 1);
  return kNames[static_cast<size_t>(state)];
}

ScenarioReading ReadScenarios(std::string_view text) {
  ScenarioReading reading;
  const auto documents = json::DecodeYaml(text);
  if (!documents) {
    reading.issues.Add(documents.error());
    return reading;
  }
  for (const json::YamlDocument& document : *documents) {
    schemas::ReadContext found(document.value, document.positions);
    WrittenScenario written;
    if (schemas::ReadDocument(ScenarioTable(), document.value, found, written)) {
      reading.scenarios.push_back(Resolver(std::move(written), document.value, found).Resolve());
    }
    reading.issues.Append(found.Faults());
    reading.warnings.Append(found.Warnings());
  }
  if (documents->empty()) {
    reading.issues.Add(
        {{}, "", "holds no scenario", "write nodes:, rules:, services: and timeline:"});
  }
  if (!reading.issues.empty()) reading.scenarios.clear();
  return reading;
}

}  // namespace mindgate::simulation
