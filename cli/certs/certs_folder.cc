#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/files.h"
#include "base/result.h"
#include "base/text.h"
#include "certs/authority.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"
#include "cli/certs/certs.h"
#include "offline/inputs.h"
#include "offline/report.h"

namespace mindgate::cli {
namespace {

using std::chrono::days;

// One certificate of a file.
struct Shown {
  std::string file;
  size_t number;
  certs::Description description;
};

struct Inspection {
  std::vector<Shown> certificates;
  certs::Problems problems;
};

int64_t DaysLeft(const certs::Description& description, Time now) {
  return std::chrono::floor<days>(description.not_after - now).count();
}

// Adds the certificates of a text, and a problem for each that expires soon.
void Show(const std::string& file, const std::vector<certs::CertificatePtr>& certificates,
          const CertsInspectOptions& options, Inspection& inspection) {
  for (size_t i = 0; i < certificates.size(); ++i) {
    certs::Description description = certs::Describe(certificates[i].get());
    const Time end = description.not_after;
    if (options.now < end && end < options.now + days(options.warn_days)) {
      inspection.problems.push_back(
          {file,
           "certificate " + std::to_string(i + 1) + " (" + certs::Title(certificates[i].get()) +
               ") expires at " + FormatTime(end) + ", within " + std::to_string(options.warn_days) +
               " days",
           "renew it; `mindgate certs rotate` does so for certificates of mindgate's own CA"});
    }
    inspection.certificates.push_back({file, i + 1, std::move(description)});
  }
}

Result<Inspection> InspectFolder(const CertsInspectOptions& options) {
  const auto files = certs::ReadServingFiles(options.path);
  if (!files) return tl::unexpected(files.error());
  Inspection inspection;
  inspection.problems = certs::CheckServing(*files, {options.now, options.names});
  // A file that cannot be read has been reported as a problem already.
  if (const auto chain = certs::ReadCertificates(files->chain)) {
    Show(certs::kChainFile, *chain, options, inspection);
  }
  if (const auto authorities = certs::ReadCertificates(files->authority)) {
    Show(certs::kAuthorityFile, *authorities, options, inspection);
  }
  return inspection;
}

Result<Inspection> InspectFile(const CertsInspectOptions& options, Streams& io) {
  const offline::InputText input = std::move(offline::ReadInputs({options.path}, io.in).front());
  if (!input.fault.empty()) {
    return Fail(ErrorCode::kInvalidArgument, input.name + ": " + input.fault);
  }
  const auto certificates = certs::ReadCertificates(input.text);
  if (!certificates) {
    return Fail(ErrorCode::kInvalidArgument, input.name + ": " + certificates.error().message());
  }
  if (certificates->empty()) {
    return Fail(ErrorCode::kInvalidArgument, input.name + " does not contain a PEM certificate");
  }
  Inspection inspection;
  inspection.problems = certs::CheckCertificates(*certificates, input.name, options.now);
  for (auto& problem : certs::CheckNames(certificates->front().get(), input.name, options.names)) {
    inspection.problems.push_back(std::move(problem));
  }
  Show(input.name, *certificates, options, inspection);
  return inspection;
}

void PrintText(const Inspection& inspection, Time now, Streams& io) {
  for (const auto& [file, number, description] : inspection.certificates) {
    const auto line = [&io](const char* name, const std::string& value) {
      if (!value.empty()) io.out << "  " << name << value << "\n";
    };
    const int64_t left = DaysLeft(description, now);
    io.out << file << ", certificate " << number << "\n";
    line("subject      ", PlainList({{description.subject}}));
    line("issuer       ", description.self_issued ? "itself" : PlainList({{description.issuer}}));
    line("names        ", PlainList(description.Names()));
    line("valid        ",
         FormatTime(description.not_before) + " to " + FormatTime(description.not_after) +
             (now >= description.not_after ? ", expired"
                                           : ", " + std::to_string(left) + " days left"));
    line("key          ", description.key);
    line("signature    ", description.signature);
    line("CA           ", description.is_ca ? "yes" : "no");
    line("usages       ", PlainList(description.usages));
    line("fingerprint  ", "SHA-256 " + description.fingerprint);
    io.out << "\n";
  }
  if (inspection.problems.empty()) io.out << "no problems found\n";
  for (const certs::Problem& problem : inspection.problems) {
    PrintError(io.err, problem.file + ": " + problem.message, problem.hint);
  }
}

void PrintJson(const Inspection& inspection, Time now, Streams& io) {
  using Json = nlohmann::ordered_json;
  Json certificates = Json::array();
  for (const auto& [file, number, description] : inspection.certificates) {
    certificates.push_back({{"file", file},
                            {"number", number},
                            {"subject", description.subject},
                            {"issuer", description.issuer},
                            {"serial", description.serial},
                            {"dnsNames", description.dns_names},
                            {"ipAddresses", description.ip_addresses},
                            {"notBefore", FormatTime(description.not_before)},
                            {"notAfter", FormatTime(description.not_after)},
                            {"daysLeft", DaysLeft(description, now)},
                            {"key", description.key},
                            {"signature", description.signature},
                            {"ca", description.is_ca},
                            {"usages", description.usages},
                            {"fingerprint", description.fingerprint}});
  }
  Json problems = Json::array();
  for (const certs::Problem& problem : inspection.problems) {
    problems.push_back(
        {{"file", problem.file}, {"message", problem.message}, {"hint", problem.hint}});
  }
  io.out << offline::Dump({{"certificates", certificates}, {"problems", problems}}) << "\n";
}

}  // namespace

std::string PlainList(std::span<const std::string> names) {
  std::string out;
  for (std::string_view rest : names) {
    if (!out.empty()) out += ", ";
    while (!rest.empty()) {
      const size_t length = Utf8Length(rest);
      const std::string_view character = rest.substr(0, std::max<size_t>(length, 1));
      rest.remove_prefix(character.size());
      out += length > 0 && !IsControl(character) ? std::string(character) : HexEscaped(character);
    }
  }
  return out;
}

int RunCertsInspect(const CertsInspectOptions& options, Streams& io) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(options.path, ignored);
  const auto inspection = is_folder ? InspectFolder(options) : InspectFile(options, io);
  if (!inspection) {
    PrintError(io.err, inspection.error().message(),
               "name a folder with tls.crt and tls.key, or a PEM file");
    return kExitUnusable;
  }
  if (options.output == "json") {
    PrintJson(*inspection, options.now, io);
  } else {
    PrintText(*inspection, options.now, io);
  }
  return inspection->problems.empty() ? kExitDone : kExitDenied;
}

namespace {

namespace fs = std::filesystem;
using certs::Files;

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
