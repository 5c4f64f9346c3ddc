#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/files.h"
#include "base/problem.h"
#include "base/text.h"
#include "certs/inspect.h"
#include "certs/load.h"
#include "certs/rotate.h"
#include "cli/certs/certs.h"
#include "offline/results_json.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;
using certs::Files;
using std::chrono::days;

bool Exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Empty if the option does not name a Service.
std::vector<std::string> NamesOfService(const std::string& service) {
  const auto parts = Split(service, '.');
  if (parts.size() != 2 || !IsDns1123Label(parts[0]) || !IsDns1123Label(parts[1])) return {};
  return certs::ServiceNames(std::string(parts[0]), std::string(parts[1]));
}

// False if the options are invalid; `io.err` says why.
bool AddNames(const NameOptions& names, certs::RotationPolicy& policy, Streams& io) {
  if (!names.service.empty()) {
    policy.dns_names = NamesOfService(names.service);
    if (policy.dns_names.empty()) {
      PrintError(io.err, "--service " + Quote(names.service) + " is not a Service",
                 "write its name and namespace: --service webhook.mindgate-system");
      return false;
    }
  }
  policy.dns_names.insert(policy.dns_names.end(), names.dns_names.begin(), names.dns_names.end());
  policy.ip_addresses = names.ip_addresses;
  return true;
}

bool IsMounted(const std::string& folder, Streams& io) {
  if (!Exists(folder + "/..data")) return false;
  PrintError(io.err, folder + " is a mounted Secret or ConfigMap, which only the kubelet may write",
             "change the Secret itself, or name another folder");
  return true;
}

int Refuse(const std::string& what, Streams& io, const std::string& hint = "") {
  PrintError(io.err, what, hint);
  return kExitDenied;
}

// Writes all files of the state, keys readable by their owner only. Files that are no longer part
// of it are removed.
Result<void> WriteFolder(const std::string& folder, const Files& files) {
  std::vector<FileToWrite> writes;
  for (const std::string name : certs::kStateFiles) {
    const auto file = files.find(name);
    if (file == files.end()) continue;
    writes.push_back({name, file->second, name.ends_with(".key") ? 0600U : 0644U});
  }
  auto done = WriteFiles(folder, writes);
  if (!done) return done;
  for (const std::string name : certs::kStateFiles) {
    if (!files.contains(name)) ::unlink((folder + "/" + name).c_str());
  }
  return done;
}

Result<Files> ReadFolder(const std::string& folder) {
  Files files;
  for (const std::string name : certs::kStateFiles) {
    auto text = ReadRegularFile(AT_FDCWD, folder + "/" + name, certs::kLargestFile);
    if (text) {
      files[name] = *std::move(text);
    } else if (text.error().code() != ErrorCode::kNotFound) {
      return Fail(text.error().code(), name + " " + text.error().message());
    }
  }
  return files;
}

std::string_view StepText(certs::Step step) {
  switch (step) {
    case certs::Step::kReplaceAuthority:
      return "create a CA";
    case certs::Step::kIntroduceAuthority:
      return "create the next CA, which signs later";
    case certs::Step::kRenewServing:
      return "renew the serving certificate";
    case certs::Step::kDropPrevious:
      return "remove the old CA";
  }
  return "";
}

// Whether clients need a new bundle.
bool ChangesAuthority(const certs::Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const certs::PlannedStep& step) {
    return step.step != certs::Step::kRenewServing;
  });
}

void PrintSteps(const certs::Plan& plan, bool dry_run, Streams& io) {
  for (const certs::PlannedStep& step : plan.steps) {
    io.out << (dry_run ? "would " : "") << StepText(step.step) << ": " << step.reason << "\n";
  }
}

void PrintServing(const certs::State& state, Streams& io) {
  const certs::Description leaf = certs::Describe(state.chain.front().get());
  io.out << "serving certificate: for " << PlainList(leaf.Names()) << ", until "
         << FormatTime(leaf.not_after) << "\n"
         << "CA: until " << FormatTime(certs::NotAfter(state.authority.certificate.get())) << "\n";
}

// `done` has been carried out, or would be; `state` is what the folder contains now.
void PrintJson(const certs::Plan& done, bool dry_run, const certs::State& state, Time next,
               Streams& io) {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  for (const certs::PlannedStep& step : done.steps) {
    steps.push_back({{"step", certs::StepName(step.step)}, {"reason", step.reason}});
  }
  Json serving;  // null: none can be read
  if (!state.chain.empty()) {
    const certs::Description leaf = certs::Describe(state.chain.front().get());
    serving = {{"dnsNames", leaf.dns_names},
               {"ipAddresses", leaf.ip_addresses},
               {"notAfter", FormatTime(leaf.not_after)}};
  }
  const Time end = certs::NotAfter(state.authority.certificate.get());
  io.out << offline::Dump({{"dryRun", dry_run},
                           {"steps", steps},
                           {"caChanged", ChangesAuthority(done)},
                           {"serving", serving},
                           {"ca", {{"notAfter", FormatTime(end)}}},
                           {"next", FormatTime(next)}})
         << "\n";
}

certs::RotationPolicy PolicyOf(int serving_days, int ca_days) {
  certs::RotationPolicy policy;
  policy.serving_life = days(serving_days);
  policy.authority_life = days(ca_days);
  return policy;
}

// When the next step is due, without the forced ones.
Time NextOf(const certs::State& state, certs::RotationPolicy policy, Time now) {
  policy.force_serving = policy.force_authority = false;
  return certs::MakePlan(state, policy, now).next;
}

}  // namespace

int RunCertsCreate(const CertsCreateOptions& options, Streams& io) {
  certs::RotationPolicy policy = PolicyOf(options.days, options.ca_days);
  if (!AddNames(options.names, policy, io)) return kExitUnusable;
  if (IsMounted(options.folder, io)) return kExitDenied;
  for (const std::string name : certs::kStateFiles) {
    if (options.force || !Exists(options.folder + "/" + name)) continue;
    return Refuse(options.folder + " already contains " + name, io,
                  "`mindgate certs rotate` renews existing certificates, --force overwrites them");
  }
  const certs::Plan plan = certs::MakePlan({}, policy, options.now);
  const auto state = certs::Carry({}, plan, policy, options.now);
  if (!state) {
    PrintError(io.err, state.error().message(), "for example --service webhook.mindgate-system");
    return kExitUnusable;
  }
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return Refuse(options.folder + " cannot be created: " + error.message(), io);
  if (const auto done = WriteFolder(options.folder, certs::WriteState(*state)); !done) {
    return Refuse(done.error().message(), io);
  }
  if (options.output == "json") {
    PrintJson(plan, false, *state, NextOf(*state, policy, options.now), io);
    return kExitDone;
  }
  io.out << "wrote ca.crt, ca.key, tls.crt and tls.key in " << options.folder << "\n";
  PrintServing(*state, io);
  return kExitDone;
}

int RunCertsRotate(const CertsRotateOptions& options, Streams& io) {
  certs::RotationPolicy policy = PolicyOf(options.days, options.ca_days);
  if (!AddNames(options.names, policy, io)) return kExitUnusable;
  policy.force_serving = options.force;
  policy.force_authority = options.authority;
  if (IsMounted(options.folder, io)) return kExitDenied;
  const auto files = ReadFolder(options.folder);
  if (!files) return Refuse(options.folder + ": " + files.error().message(), io);
  if (!files->contains(certs::kAuthorityFile)) {
    PrintError(io.err, options.folder + " does not contain ca.crt",
               "create one with `mindgate certs create`");
    return kExitUnusable;
  }
  auto state = certs::ReadState(*files);
  if (!state) {
    return Refuse(options.folder + ": " + state.error().message(), io,
                  "renew them where they were issued, or start over with `mindgate certs create "
                  "--force` and publish the new ca.crt as caBundle");
  }
  const bool for_programs = options.output == "json";
  const certs::Plan plan = certs::MakePlan(*state, policy, options.now);
  const bool due = !plan.steps.empty();
  if (options.authority && state->previous != nullptr) {
    io.err << "note: the CA is already being replaced; --ca has no effect\n";
  }
  if (!for_programs) PrintSteps(plan, options.dry_run, io);
  if (due && !options.dry_run) {
    state = certs::Carry(*std::move(state), plan, policy, options.now);
    if (!state) {
      PrintError(io.err, state.error().message(), "for example --service webhook.mindgate-system");
      return kExitUnusable;
    }
    const auto done = WriteFolder(options.folder, certs::WriteState(*state));
    if (!done) return Refuse(done.error().message(), io);
  }
  const Time next = due && options.dry_run ? options.now : NextOf(*state, policy, options.now);
  if (for_programs) {
    PrintJson(plan, options.dry_run, *state, next, io);
  } else if (!due || !options.dry_run) {
    if (ChangesAuthority(plan)) io.out << "ca.crt has changed: publish it as caBundle now\n";
    PrintServing(*state, io);
    io.out << "next step due at " << FormatTime(next) << "\n";
  }
  return kExitDone;
}

}  // namespace mindgate::cli
