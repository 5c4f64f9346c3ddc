#include "deploy/import/import.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/import/read.h"
#include "deploy/render.h"
#include "json/value.h"
#include "json/yaml.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;
using Why = NotImported::Why;

constexpr size_t kMostNamed = 8;
constexpr const char* kOldTool = "mindcluster-deploy's k8s-deploy-tool";

tl::unexpected<NotImported> Refuse(Why why, const std::string& what, const std::string& hint) {
  return tl::unexpected(NotImported{why, {{what, hint}}});
}

const char* RootKindOf(Framework framework) {
  return framework == Framework::kAibrix ? "StormService" : "InferenceService";
}

bool IsRootKind(const std::string& kind) {
  return kind == "InferenceService" || kind == "StormService";
}

// The words of the tool's templates that no user chooses.
bool HasVariable(const Json* container, std::string_view name) {
  const Json* env = json::Find(container, "env");
  return json::IsArray(env) && std::any_of(env->begin(), env->end(), [name](const Json& each) {
           return json::FindString(each, "name") == name;
         });
}

bool IsOldInferenceService(const Json& object) {
  const Json* engine = json::FindPath(object, {"spec", "engine"});
  for (const Json* runner :
       {json::Find(engine, "runner"), json::FindPath(engine, {"leader", "runner"})}) {
    if (HasVariable(runner, "DP_SIZE") && HasVariable(runner, "TP_SIZE")) return true;
  }
  return false;
}

bool IsOldStormService(const Json& object) {
  const Json* roles = json::FindPath(object, {"spec", "template", "spec", "roles"});
  std::set<std::string> found;
  if (!json::IsArray(roles)) return false;
  for (const Json& role : *roles) {
    const Json* containers = json::FindPath(role, {"template", "spec", "containers"});
    if (!json::IsArray(containers) || containers->empty()) continue;
    if (HasVariable(&containers->front(), "PREFILL_DP_SIZE"))
      found.insert(json::TextAt(role, {"name"}));
  }
  return found.contains("prefill") && found.contains("decode");
}

// Why a custom resource cannot be imported; nothing: it can.
std::optional<Problem> Objection(const Json& root, const std::string& app) {
  const std::string title = TitleOf(root) + " in namespace " + NamespaceOf(root);
  if (IsOurs(root, app)) {
    const std::string at = app + " -n " + NamespaceOf(root);
    return Problem{"`mindgate deploy` made " + title + ", which therefore has a file already",
                   "`mindgate deploy history " + at +
                       "` lists its files, and `mindgate deploy history " + at +
                       " REVISION` prints one"};
  }
  if (HasController(root)) {
    return Problem{title + " is made by another object, which would undo what mindgate changes",
                   "deploy that object instead"};
  }
  if (KindOf(root) == "InferenceService" && !IsOldInferenceService(root)) {
    return Problem{title + " is not of " + kOldTool +
                       ": its spec.engine has no runner with the variables DP_SIZE and TP_SIZE",
                   "`mindgate deploy --init ome` writes a file to start from"};
  }
  if (KindOf(root) == "StormService" && !IsOldStormService(root)) {
    return Problem{title + " is not of " + kOldTool +
                       ": it has no roles prefill and decode with the variable PREFILL_DP_SIZE",
                   "`mindgate deploy --init aibrix` writes a file to start from"};
  }
  if (IsLeaving(root)) {
    return Problem{title + " is being deleted", "deploy the application again after that"};
  }
  return std::nullopt;
}

Problem MindieObjection(const std::vector<std::string>& jobs, const std::string& app,
                        const std::string& ns) {
  return {
      "application " + app + " in namespace " + ns + " is of MindIE Motor (" +
          JoinFirst(jobs, kMostNamed) +
          "), whose deployer gives its jobs, rank tables and ConfigMaps other names than mindgate "
          "deploy does: deployed from a file, it would run a second time",
      "`mindgate deploy --init mindie` writes a file to start from; delete the old objects with "
      "delete.sh of its deployer before you deploy it"};
}

// Chooses one of the custom resources of the name.
tl::expected<Json, NotImported> ChooseRoot(std::vector<Json> roots, const std::string& app,
                                           std::optional<Framework> framework) {
  if (roots.size() > 1 && framework) {
    roots.erase(
        std::remove_if(roots.begin(), roots.end(),
                       [&](const Json& each) { return KindOf(each) != RootKindOf(*framework); }),
        roots.end());
  }
  if (roots.size() > 1) {
    return Refuse(
        Why::kNotPossible,
        "namespace " + NamespaceOf(roots.front()) + " has " + TitleOf(roots[0]) + " and " +
            TitleOf(roots[1]) + ", each of which is an application",
        "set SERVING_FRAMEWORK=ome for the InferenceService, or aibrix for the StormService");
  }
  if (auto why = Objection(roots.front(), app)) {
    return tl::unexpected(NotImported{Why::kNotPossible, {*std::move(why)}});
  }
  return std::move(roots.front());
}

bool IsServiceOfStorm(const Json& object, const std::string& app) {
  return KindOf(object) == "Service" && Label(object, kStormName) == app && !HasController(object);
}

// From the custom resource and what else there is in its namespace.
FoundApplication Gather(Json root, const std::vector<Json>& others, const std::string& app) {
  FoundApplication found{.app = app, .ns = NamespaceOf(root)};
  found.framework = KindOf(root) == "StormService" ? Framework::kAibrix : Framework::kOme;
  std::vector<std::string> wanted;
  if (found.framework == Framework::kOme && json::FindPath(root, {"spec", "decoder"}) != nullptr) {
    wanted = {"Deployment " + app + "-mf-store", "Service " + app + "-mf-store"};
  }
  found.objects.push_back(std::move(root));
  for (const Json& each : others) {
    const std::string title = TitleOf(each);
    const bool is_store =
        title == "Deployment " + app + "-mf-store" || title == "Service " + app + "-mf-store";
    const bool is_part =
        found.framework == Framework::kOme ? is_store : IsServiceOfStorm(each, app);
    if (is_part && NamespaceOf(each) == found.ns) found.objects.push_back(each);
  }
  std::sort(found.objects.begin() + 1, found.objects.end(),
            [](const Json& a, const Json& b) { return NaturalLess(TitleOf(a), TitleOf(b)); });
  for (const std::string& title : wanted) {
    if (found.Object(title) == nullptr) found.missing.push_back(title);
  }
  return found;
}

class ClusterSearch {
 public:
  ClusterSearch(kube::Client& client, const std::string& ns, const std::string& app,
                const std::stop_token& stop)
      : client_(client), ns_(ns), app_(app), stop_(stop) {}

  tl::expected<FoundApplication, NotImported> Find(std::optional<Framework> framework) {
    std::vector<Json> roots;
    for (const kube::Resource* each :
         {&resources::kInferenceServices, &resources::kStormServices}) {
      if (auto object = Get(*each, app_)) roots.push_back(*std::move(object));
    }
    if (fault_) return Failure();
    if (roots.empty()) return NothingFound();
    auto root = ChooseRoot(std::move(roots), app_, framework);
    if (!root) return tl::unexpected(std::move(root.error()));
    // What may not be read of other frameworks does not matter any more.
    forbidden_.clear();
    std::vector<Json> others;
    if (KindOf(*root) == "StormService") {
      others = List(kube::resources::kServices, ns_, std::string(kStormName) + "=" + app_);
    } else {
      for (const kube::Resource* each :
           {&kube::resources::kDeployments, &kube::resources::kServices}) {
        if (auto object = Get(*each, app_ + "-mf-store")) others.push_back(*std::move(object));
      }
    }
    if (fault_) return Failure();
    if (!forbidden_.empty()) return Forbidden();
    return Gather(*std::move(root), others, app_);
  }

 private:
  std::optional<Json> Get(const kube::Resource& resource, const std::string& name) {
    auto object = FindObject(client_, resource, ns_, name, stop_);
    if (!object) {
      Note(object.error());
      return std::nullopt;
    }
    if (object->is_null()) return std::nullopt;
    (*object)["apiVersion"] = resource.api_version();
    (*object)["kind"] = resource.kind;
    return *std::move(object);
  }

  std::vector<Json> List(const kube::Resource& resource, const std::string& ns,
                         const std::string& selector) {
    auto objects = client_.ListObjects(resource, ns, {.label_selector = selector}, nullptr, stop_);
    if (!objects) {
      Note(objects.error());
      return {};
    }
    for (Json& each : *objects) {
      each["apiVersion"] = resource.api_version();  // lists leave them out
      each["kind"] = resource.kind;
    }
    return *std::move(objects);
  }

  void Note(const kube::Fault& fault) {
    if (fault.reason == Reason::kNotFound) return;  // what is not served has no objects
    if (fault.reason == Reason::kForbidden) {
      forbidden_.push_back({fault.message, ""});
    } else if (!fault_) {
      fault_ = fault;
    }
  }

  tl::unexpected<NotImported> Failure() const {
    return Refuse(Why::kUnreachable, fault_->message, "");
  }
  tl::unexpected<NotImported> Forbidden() const {
    return tl::unexpected(NotImported{Why::kUnreadable, forbidden_});
  }

  // There is no custom resource of the name, as far as one may read.
  tl::unexpected<NotImported> NothingFound() {
    const auto jobs = List(resources::kAscendJobs, ns_, std::string(schemas::kJobId) + "=" + app_);
    if (fault_) return Failure();
    if (!jobs.empty()) {
      std::vector<std::string> titles;
      for (const Json& job : jobs) titles.push_back(TitleOf(job));
      return tl::unexpected(NotImported{Why::kNotPossible, {MindieObjection(titles, app_, ns_)}});
    }
    if (!forbidden_.empty()) return Forbidden();
    std::set<std::string, NaturalOrder> here;
    std::set<std::string, NaturalOrder> elsewhere;
    for (const kube::Resource* each :
         {&resources::kInferenceServices, &resources::kStormServices}) {
      for (const Json& object : List(*each, "", "")) {
        if (NamespaceOf(object) == ns_) here.insert(NameOf(object));
        if (NameOf(object) == app_) elsewhere.insert(NamespaceOf(object));
      }
      if (!forbidden_.empty()) {  // not in all namespaces, but perhaps in this one
        forbidden_.clear();
        for (const Json& object : List(*each, ns_, "")) here.insert(NameOf(object));
      }
    }
    forbidden_.clear();
    if (fault_) return Failure();
    return Refuse(Why::kNotFound,
                  "namespace " + ns_ + " has no InferenceService and no StormService " + app_ +
                      ", and no AscendJobs with the label " + std::string(schemas::kJobId) + "=" +
                      app_,
                  HintAbout(here, elsewhere));
  }

  template <typename Names>
  std::string HintAbout(const Names& here, const Names& elsewhere) const {
    if (!elsewhere.empty()) {
      return "there is one in namespace " + JoinFirst(elsewhere, kMostNamed) +
             ": choose it with -n";
    }
    return here.empty() ? "choose another namespace with -n"
                        : "the namespace has " + JoinFirst(here, kMostNamed);
  }

  kube::Client& client_;
  const std::string& ns_;
  const std::string& app_;
  const std::stop_token& stop_;
  std::vector<Problem> forbidden_;
  std::optional<kube::Fault> fault_;
};

}  // namespace

const Json* FoundApplication::Object(const std::string& title) const {
  const auto found = std::find_if(objects.begin(), objects.end(),
                                  [&title](const Json& each) { return TitleOf(each) == title; });
  return found == objects.end() ? nullptr : &*found;
}

tl::expected<FoundApplication, NotImported> FindOnCluster(kube::Client& client,
                                                          const std::string& ns,
                                                          const std::string& app,
                                                          std::optional<Framework> framework,
                                                          const std::stop_token& stop) {
  return ClusterSearch(client, ns, app, stop).Find(framework);
}

tl::expected<FoundApplication, NotImported> FindAmong(const std::vector<Json>& objects,
                                                      const std::string& ns, const std::string& app,
                                                      std::optional<Framework> framework) {
  std::vector<Json> placed = objects;
  std::vector<Json> roots;
  std::vector<std::string> jobs;
  std::set<std::string, NaturalOrder> namespaces;
  std::set<std::string, NaturalOrder> names;
  for (Json& each : placed) {
    if (NamespaceOf(each).empty()) each["metadata"]["namespace"] = ns.empty() ? "default" : ns;
    const bool here = ns.empty() || NamespaceOf(each) == ns;
    if (IsRootKind(KindOf(each))) names.insert(NamespaceOf(each) + "/" + NameOf(each));
    if (!here) continue;
    if (IsRootKind(KindOf(each)) && NameOf(each) == app) {
      roots.push_back(each);
      namespaces.insert(NamespaceOf(each));
    } else if (KindOf(each) == "AscendJob" && Label(each, schemas::kJobId) == app) {
      jobs.push_back(TitleOf(each));
    }
  }
  if (namespaces.size() > 1) {
    return Refuse(Why::kNotPossible,
                  "application " + app + " is in namespaces " + JoinFirst(namespaces, kMostNamed),
                  "choose one with -n");
  }
  if (roots.empty() && !jobs.empty()) {
    return tl::unexpected(NotImported{
        Why::kNotPossible, {MindieObjection(jobs, app, ns.empty() ? "of the file" : ns)}});
  }
  if (roots.empty()) {
    return Refuse(Why::kNotFound,
                  "there is no InferenceService and no StormService " + app +
                      (ns.empty() ? "" : " in namespace " + ns) + " among the objects",
                  names.empty() ? "name files with the output of `kubectl get "
                                  "inferenceservices,stormservices,deployments,services -o yaml`"
                                : "there are " + JoinFirst(names, kMostNamed));
  }
  auto root = ChooseRoot(std::move(roots), app, framework);
  if (!root) return tl::unexpected(std::move(root.error()));
  return Gather(*std::move(root), placed, app);
}

namespace {

using json::Json;

constexpr size_t kIndent = 2;

// Block-style YAML with the keys in their order.
void AppendYaml(const Block& value, size_t depth, std::string& out) {
  const std::string indent(depth * kIndent, ' ');
  for (const auto& [key, member] : value.items()) {
    const std::string lines =
        json::EncodeYaml(Json{{key, member.is_object() ? Json() : Json(member)}});
    if (member.is_object() && !member.empty()) {
      out += indent + lines.substr(0, lines.rfind(": null")) + ":\n";
      AppendYaml(member, depth + 1, out);
      continue;
    }
    const std::string text =
        member.is_object() ? lines.substr(0, lines.rfind(": null")) + ": {}\n" : lines;
    for (const std::string_view line :
         Split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
      if (!line.empty()) out += indent;
      out += std::string(line) + "\n";
    }
  }
}

std::string TextOfFile(const FoundApplication& found, const Block& document) {
  std::string text = "# Application " + found.app + " in namespace " + found.ns +
                     ", as it was found there by mindgate deploy --import.\n";
  AppendYaml(document, 0, text);
  return text;
}

class Importer {
 public:
  Importer(const FoundApplication& found, const schemas::Config& config, Time now)
      : found_(found), config_(config), now_(now) {}

  Imported Run() {
    const bool ome = found_.framework == Framework::kOme;
    Block document = ome ? ReadOme(found_) : ReadAibrix(found_);
    if (!Read(document)) return std::move(imported_);
    std::vector<RenderedObject> rendered = Render(imported_.configuration->application);
    ome ? AddOmeMaps(found_, rendered, document) : AddAibrixMaps(found_, rendered, document);
    if (!Read(document)) return std::move(imported_);
    AddPatches(document);
    if (imported_.configuration) Compare();
    return std::move(imported_);
  }

 private:
  bool Read(const Block& document) {
    imported_.text = TextOfFile(found_, document);
    imported_.faults = {};
    imported_.configuration.reset();
    auto read = ReadConfiguration(imported_.text);
    if (!read) {
      imported_.faults = std::move(read.error());
      return false;
    }
    imported_.configuration = *std::move(read);
    return true;
  }

  void AddPatches(Block& document) {
    Json patches = PatchesToward(found_, Render(imported_.configuration->application));
    imported_.patches = patches.size();
    if (patches.empty()) return;
    document["patches"] = Block(patches);
    Read(document);
  }

  void Compare() {
    const Configuration& configuration = *imported_.configuration;
    const CheckedApplication checked =
        Check(configuration, Render(configuration.application), config_, {}, now_);
    std::set<std::string> made;
    for (const RenderedObject& each : checked.objects) {
      made.insert(each.Title());
      ObjectChange change{.title = each.Title()};
      if (const Json* runs = found_.Object(change.title)) {
        change.fields = ChangesBetween(*runs, each.object);
        if (!change.fields.empty()) change.what = ObjectChange::What::kChanges;
      } else {
        change.what = ObjectChange::What::kCreates;
      }
      imported_.objects.push_back(std::move(change));
    }
    for (const Json& each : found_.objects) {
      if (made.contains(TitleOf(each))) continue;
      imported_.objects.push_back({.title = TitleOf(each), .what = ObjectChange::What::kLeaves});
    }
    imported_.findings = configuration.warnings;
    for (const CheckFinding& finding : checked.findings) {
      if (finding.Denies()) imported_.findings.Add(IssueOf(finding, checked));
    }
  }

  const FoundApplication& found_;
  const schemas::Config& config_;
  const Time now_;
  Imported imported_;
};

}  // namespace

Imported Import(const FoundApplication& found, const schemas::Config& config, Time now) {
  return Importer(found, config, now).Run();
}

}  // namespace mindgate::deploy
