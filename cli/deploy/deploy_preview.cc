#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/session.h"
#include "cli/deploy/deploy.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/import/import.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/subprocess.h"
#include "offline/documents.h"
#include "offline/evaluate.h"
#include "offline/inputs.h"
#include "offline/report.h"
#include "what_if/forecast.h"
#include "what_if/snapshot.h"

namespace mindgate::cli {
namespace {

std::vector<Problem> NotRead(const std::string& why) {
  return {{"whether there is room now is not checked: " + why, ""}};
}

Problem NoteOf(const what_if::InstanceForecast& instance) {
  std::string what = "does not fit now: " + instance.owner;
  if (!instance.pod_group.empty()) what += " (PodGroup " + instance.pod_group + ")";
  what += " of " + Counted(static_cast<int64_t>(instance.pods), "pod");
  if (!instance.why.empty()) what += ": " + instance.why;
  const std::string nodes = instance.shortage ? LeftOutText(*instance.shortage) : "";
  if (!nodes.empty()) what += " (nodes: " + nodes + ")";
  std::string hint = "its pods stay Pending until others leave";
  if (!instance.fix.empty()) hint += ", or until there is " + instance.fix;
  return {std::move(what), std::move(hint)};
}

// The pods that the application has already: what is deployed takes their place.
std::optional<kube::Fault> RemoveOwnPods(kube::Client& client,
                                         const deploy::Application& application,
                                         const std::stop_token& stop,
                                         what_if::ClusterSnapshot& snapshot) {
  const auto pods = client.ListObjects(
      kube::resources::kPods, application.ns,
      {.label_selector = deploy::PodSelector(application.framework(), application.name)}, nullptr,
      stop);
  if (!pods) return pods.error();
  std::set<std::string> own;
  for (const json::Json& pod : *pods) own.insert(deploy::NameOf(pod));
  std::erase_if(snapshot.pods, [&](const json::Value* pod) {
    return json::TextAt(*pod, {"metadata", "namespace"}) == application.ns &&
           own.contains(json::TextAt(*pod, {"metadata", "name"}));
  });
  return std::nullopt;
}

}  // namespace

std::vector<Problem> LackOfRoom(kube::Client& client, Time now,
                                const deploy::Application& application,
                                const std::vector<json::Json>& objects,
                                const std::stop_token& stop) {
  const auto text = what_if::TakeSnapshot(client, now, {}, stop);
  if (!text) return NotRead(text.error().message);
  auto snapshot = what_if::ReadSnapshot(*text);
  if (!snapshot) return NotRead("the cluster has objects that are not understood");
  if (const auto fault = RemoveOwnPods(client, application, stop, *snapshot)) {
    return NotRead(fault->message);
  }
  std::list<json::Document> documents;
  std::vector<what_if::ManifestObject> manifests;
  for (const json::Json& object : objects) {
    documents.emplace_back(object);
    manifests.push_back({&documents.back().root(), application.ns});
  }
  const what_if::Answer answer = what_if::AnswerOf(*snapshot, manifests, {});
  std::vector<Problem> notes;
  if (!answer.applied) return notes;
  for (const what_if::InstanceForecast& instance : answer.applied->instances) {
    const bool waits = instance.outcome == what_if::Outcome::kNoRoom ||
                       instance.outcome == what_if::Outcome::kPartly ||
                       instance.outcome == what_if::Outcome::kHeld;
    if (instance.is_new && waits) notes.push_back(NoteOf(instance));
  }
  return notes;
}

namespace {

using deploy::FieldChange;
using deploy::FoundApplication;
using deploy::Imported;
using deploy::NotImported;
using deploy::ObjectChange;
using json::Json;
using nlohmann::ordered_json;
using What = ObjectChange::What;

constexpr const char* kStdoutName = "<stdout>";
// Of a value in a line; -o json has all of it.
constexpr size_t kMostOfValue = 160;

std::string TextOfValue(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.empty()) return "\"\"";
  if (text.size() <= kMostOfValue) return text;
  return Cut(std::move(text), kMostOfValue) + "...";
}

std::string LineOfChange(const FieldChange& change) {
  if (change.before.is_null()) return "adds " + change.path + ": " + TextOfValue(change.after);
  if (change.after.is_null())
    return "leaves out " + change.path + ": " + TextOfValue(change.before);
  return "changes " + change.path + ": " + TextOfValue(change.before) + " becomes " +
         TextOfValue(change.after);
}

// A framework that the variable chooses, as for files without framework.
std::optional<deploy::Framework> FrameworkOfEnvironment() {
  const auto named = deploy::FrameworkNamed(kube::Environment("SERVING_FRAMEWORK"));
  return named == deploy::Framework::kMindie ? std::nullopt : named;
}

class DeployImport {
 public:
  DeployImport(const DeployOptions& options, Streams& io) : options_(options), io_(io) {}

  int Run() {
    if (!deploy::IsDnsSubdomain(options_.import)) {
      PrintError(io_.err,
                 "--import: " + Quote(options_.import) + " cannot be the name of an application",
                 "write its app_name: lower-case letters, digits and '-'");
      return kExitUnusable;
    }
    const auto config = offline::LoadConfigFile(options_.config_file, io_.err);
    if (!config) return kExitUnusable;
    if (const int code = Find(); code != kExitDone) return code;
    const Imported imported = deploy::Import(*found_, *config, clock_.WallNow());
    if (options_.output.Is("json")) {
      io_.out << offline::Dump(Document(imported)) << "\n";
    } else {
      io_.out << imported.text;
    }
    io_.out.flush();
    return Explain(imported);
  }

 private:
  // Sets found_.
  int Find() {
    const auto framework = FrameworkOfEnvironment();
    if (!options_.file.empty()) {
      const auto objects = ReadObjects();
      if (!objects) return kExitUnusable;
      return Take(deploy::FindAmong(*objects, options_.cluster.default_namespace, options_.import,
                                    framework));
    }
    const StopOnSignal signals;
    const auto connection = Connect(options_.cluster, clock_, {}, io_);
    if (connection == nullptr) return kExitUnusable;
    return Take(deploy::FindOnCluster(connection->client(), connection->ns(), options_.import,
                                      framework, signals.token()));
  }

  int Take(tl::expected<FoundApplication, NotImported> found) {
    if (found) {
      found_ = *std::move(found);
      return kExitDone;
    }
    for (const Problem& each : found.error().reasons) PrintError(io_.err, each);
    switch (found.error().why) {
      case NotImported::Why::kNotFound:
        return kExitNotFound;
      case NotImported::Why::kNotPossible:
      case NotImported::Why::kUnreadable:
        return kExitBlocked;
      case NotImported::Why::kUnreachable:
        break;
    }
    return kExitUnusable;
  }

  // The objects of -f; nothing after a fault, which is printed.
  std::optional<std::vector<Json>> ReadObjects() {
    std::vector<std::unique_ptr<offline::Source>> sources;
    for (offline::InputText& input : offline::ReadInputs({options_.file}, io_.in)) {
      if (!input.fault.empty()) {
        PrintError(io_.err, input.name + ": " + input.fault);
        return std::nullopt;
      }
      sources.push_back(offline::Decode(std::move(input)));
    }
    std::vector<Json> objects;
    bool faulty = false;
    for (const offline::InputObject& each : offline::ObjectsOf(sources)) {
      if (each.fault) {
        const offline::InputText& input = each.source->input;
        io_.err << json::Render(*each.fault, input.name, input.text);
        faulty = true;
      } else if (each.object != nullptr) {
        objects.push_back(json::TreeOf(*each.object));
      }
    }
    if (faulty) return std::nullopt;
    return objects;
  }

  int Explain(const Imported& imported) {
    for (const std::string& each : found_->missing) {
      io_.err << "note: " << each << " does not exist in namespace " << found_->ns
              << ", where the old tool makes it\n";
    }
    if (!imported.configuration) {
      io_.err << json::Render(imported.faults, kStdoutName, imported.text);
      PrintError(io_.err, "the file on standard output cannot be deployed as it stands",
                 "correct it where the lines above say so");
      return kExitInvalidConfig;
    }
    io_.err << json::Render(imported.findings, kStdoutName, imported.text);
    if (imported.patches > 0) {
      io_.err << "note: patches: of the file have "
              << Counted(static_cast<int64_t>(imported.patches), "entry")
              << " for what no other key says\n";
    }
    PrintChanges(imported);
    return kExitDone;
  }

  // Changes that all objects have in common are printed once.
  void PrintChanges(const Imported& imported) {
    std::map<std::string, size_t> times;
    size_t compared = 0;
    for (const ObjectChange& each : imported.objects) {
      if (each.what != What::kChanges && each.what != What::kNothing) continue;
      ++compared;
      for (const FieldChange& field : each.fields) ++times[LineOfChange(field)];
    }
    const auto is_common = [&](const FieldChange& field) {
      return compared > 1 && times[LineOfChange(field)] == compared;
    };
    io_.err << "note: deploying this file changes what runs in namespace " << found_->ns << ":\n";
    bool common = false;
    for (const auto& [line, count] : times) {
      if (compared < 2 || count != compared) continue;
      if (!common) io_.err << "  each of the " << compared << " objects that run\n";
      common = true;
      io_.err << "    " << line << "\n";
    }
    bool leaves_out = false;
    for (const ObjectChange& each : imported.objects) {
      if (each.what == What::kCreates) io_.err << "  " << each.title << " is created\n";
      if (each.what == What::kLeaves) {
        io_.err << "  " << each.title
                << " stays as it is: the file does not make it; delete it once nobody uses it\n";
      }
      bool titled = false;
      for (const FieldChange& field : each.fields) {
        leaves_out = leaves_out || field.after.is_null();
        if (is_common(field)) continue;
        if (!titled) io_.err << "  " << each.title << "\n";
        titled = true;
        io_.err << "    " << LineOfChange(field) << "\n";
      }
    }
    if (leaves_out) {
      io_.err
          << "note: what the file leaves out can stay on an object until that is deleted, since "
             "mindgate removes only fields that it wrote\n";
    }
    io_.err << "note: deploy the file with --force, which takes over the objects of the old tool; "
               "--force --diff shows what the API server would store\n";
  }

  ordered_json Document(const Imported& imported) const {
    auto objects = ordered_json::array();
    for (const ObjectChange& each : imported.objects) {
      auto fields = ordered_json::array();
      for (const FieldChange& field : each.fields) {
        fields.push_back({{"path", field.path},
                          {"before", ordered_json(field.before)},
                          {"after", ordered_json(field.after)}});
      }
      const char* action = each.what == What::kCreates   ? "create"
                           : each.what == What::kChanges ? "change"
                           : each.what == What::kLeaves  ? "leave"
                                                         : "none";
      const size_t space = each.title.find(' ');
      objects.push_back({{"kind", each.title.substr(0, space)},
                         {"namespace", found_->ns},
                         {"name", each.title.substr(space + 1)},
                         {"action", action},
                         {"fields", std::move(fields)}});
    }
    return {{"application", found_->app},
            {"namespace", found_->ns},
            {"framework", FrameworkName(found_->framework)},
            {"deployable", imported.configuration.has_value()},
            {"file", imported.text},
            {"missing", found_->missing},
            {"objects", std::move(objects)}};
  }

  const DeployOptions& options_;
  Streams& io_;
  const SystemClock clock_{};
  std::optional<FoundApplication> found_;
};

}  // namespace

int RunDeployImport(const DeployOptions& options, Streams& io) {
  return DeployImport(options, io).Run();
}

}  // namespace mindgate::cli
