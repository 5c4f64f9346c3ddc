#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/problem.h"
#include "base/text.h"
#include "certs/check.h"
#include "certs/inspect.h"
#include "certs/load.h"
#include "certs/pem.h"
#include "cli/certs/certs.h"
#include "offline/inputs.h"
#include "offline/results_json.h"

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

}  // namespace mindgate::cli
