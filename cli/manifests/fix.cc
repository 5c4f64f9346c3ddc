#include "offline/fix.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <system_error>

#include "base/files.h"
#include "base/foreign_text.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/print.h"
#include "cli/manifests/manifests.h"
#include "json/decode.h"
#include "json/issues.h"

namespace mindgate::cli {
namespace {

tl::unexpected<Error> CannotWrite(const std::string& why) {
  return Fail(ErrorCode::kInvalidArgument, "cannot be written: " + why);
}

}  // namespace

Result<void> WriteFixed(const offline::FixedFile& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(file.name, error);
  if (error) return CannotWrite(error.message());
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return CannotWrite(SystemReason(errno));
  if (!S_ISREG(status.st_mode)) return CannotWrite("it is not a regular file");
  constexpr mode_t kWritable = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((status.st_mode & kWritable) == 0 || ::access(path.c_str(), W_OK) != 0) {
    return CannotWrite("it is read-only; `chmod u+w` allows it");
  }
  const auto now = ReadFile(path.string(), json::kLargestFile);
  if (!now) return CannotWrite(now.error().message());
  if (*now == file.after) return {};  // by another name
  if (*now != file.before) return CannotWrite("it has changed since it was read; run it again");
  FileToWrite whole;
  whole.name = path.filename().string();
  whole.text = file.after;
  whole.mode = status.st_mode & 07777;
  whole.owner = status.st_uid;
  whole.group = status.st_gid;
  return WriteFiles(path.parent_path().string(), {whole});
}

namespace {

using nlohmann::ordered_json;
using offline::FixedField;
using offline::FixedFile;
using offline::LeftField;

bool ReadsStdin(const offline::InputOptions& input) {
  return std::find(input.files.begin(), input.files.end(), "-") != input.files.end();
}

// What has no file to write to is refused.
bool CanBeWritten(const FixCommandOptions& options, std::ostream& err) {
  const offline::InputOptions& input = options.input;
  if (input.files.empty()) {
    PrintError(err, "no input", "give files, folders or - with -f");
    return false;
  }
  if (!input.kustomizations.empty()) {
    PrintError(err, "-k builds objects that are in no file, so there is nothing to write to",
               "give the files of the kustomization: -f " + input.kustomizations.front());
    return false;
  }
  for (const std::string& path : input.files) {
    for (const std::string_view part : Split(path, ',')) {
      if (!part.starts_with("https://") && !part.starts_with("http://")) continue;
      PrintError(err, std::string(part) + " is a URL, so there is nothing to write to",
                 "download it and give the file");
      return false;
    }
  }
  if (!ReadsStdin(input)) return true;
  if (options.in_place) {
    PrintError(err, "--in-place cannot write to standard input",
               "leave it out: the fixed text goes to standard output");
    return false;
  }
  if (input.files.size() > 1) {
    PrintError(err, "- is read beside other inputs, and its fixed text would be mixed with theirs",
               "give - alone");
    return false;
  }
  return true;
}

// The faults of the input are printed with an excerpt.
bool IsInputFault(const LeftField& left) { return left.level == offline::FindingLevel::kError; }

std::string LevelText(const LeftField& left) {
  return left.unwritten ? "not written" : std::string(offline::FindingLevelName(left.level));
}

void PrintLeft(const std::vector<FixedFile>& files, const Paint& paint, std::ostream& err) {
  for (const FixedFile& file : files) {
    for (const LeftField& left : file.left) {
      if (IsInputFault(left)) continue;
      const Color color = left.MustChange() ? Color::kRed : Color::kYellow;
      err << json::PositionText(file.name, left.at) << ": " << paint(color, LevelText(left)) << ": "
          << left.by << ": " << left.field << (left.field.empty() ? "" : ": ") << left.message
          << (left.fix.empty() ? "" : "; fix: ") << left.fix << "\n";
    }
  }
}

ordered_json FieldJson(const FixedField& field) {
  ordered_json json = {{"object", field.object},
                       {"field", field.field},
                       {"line", field.at.line},
                       {"column", field.at.column}};
  json["old"] = field.old ? ordered_json(*field.old) : ordered_json();
  json["new"] = ordered_json(field.now);
  json[field.injected ? "mutator" : "rule"] = field.by;
  json["why"] = field.why;
  return json;
}

ordered_json LeftJson(const LeftField& left) {
  return {{"object", left.object},      {"field", left.field},
          {"line", left.at.line},       {"column", left.at.column},
          {"outcome", LevelText(left)}, {"by", left.by},
          {"message", left.message},    {"fix", left.fix}};
}

ordered_json FixesJson(const std::vector<FixedFile>& files, const std::set<std::string>& written) {
  ordered_json listed = ordered_json::array();
  size_t changed = 0;
  size_t fields = 0;
  size_t left = 0;
  for (const FixedFile& file : files) {
    ordered_json entry = {{"file", file.name},
                          {"changed", file.IsChanged()},
                          {"written", written.contains(file.name)},
                          {"edits", ordered_json::array()},
                          {"left", ordered_json::array()}};
    for (const FixedField& field : file.fixed) entry["edits"].push_back(FieldJson(field));
    for (const LeftField& one : file.left) entry["left"].push_back(LeftJson(one));
    changed += file.IsChanged() ? 1 : 0;
    fields += file.fixed.size();
    left += file.left.size();
    listed.push_back(std::move(entry));
  }
  return {{"files", std::move(listed)},
          {"summary", {{"changed", changed}, {"edits", fields}, {"left", left}}}};
}

void PrintDifferences(const std::vector<FixedFile>& files, const Paint& paint, std::ostream& out) {
  for (const FixedFile& file : files) {
    if (!file.IsChanged()) continue;
    out << paint(Color::kBold, "--- " + file.name) << "\n"
        << paint(Color::kBold, "+++ " + file.name + " (fixed)") << "\n"
        << UnifiedDiff(file.before, file.after, paint);
  }
}

// What a filter prints. False when the text would not arrive as it is.
bool PrintFixedText(const FixedFile& file, Streams& io) {
  std::string checked;
  for (const std::string_view line : Split(file.after, '\n')) {
    checked += line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }
  if (!IsSafeText(checked)) {
    PrintError(io.err,
               "the text has characters that act on a terminal, and are not printed as they are",
               "write it to a file, and give -f FILE --in-place");
    return false;
  }
  io.out << file.after;
  return true;
}

// Names of the files that were written. `failed` when one was not.
std::set<std::string> WriteAll(const std::vector<FixedFile>& files, bool prints, bool& failed,
                               Streams& io) {
  std::set<std::string> written;
  for (const FixedFile& file : files) {
    if (!file.IsChanged()) continue;
    if (auto done = WriteFixed(file); !done) {
      failed = true;
      PrintError(io.err, file.name + ": " + done.error().message());
      continue;
    }
    written.insert(file.name);
    const auto fields = static_cast<int64_t>(file.fixed.size());
    if (prints) io.out << "fixed " << file.name << ": " << Counted(fields, "field") << "\n";
  }
  if (prints && written.empty() && !failed) io.out << "nothing to fix\n";
  return written;
}

}  // namespace

int RunFix(const FixCommandOptions& options, Streams& io) {
  if (!CanBeWritten(options, io.err)) return kExitUnusable;
  const bool writes = options.in_place && options.dry_run == DryRun::kNone;
  const bool filters = ReadsStdin(options.input) && options.dry_run == DryRun::kNone;
  const auto fixes = offline::Fix(
      {.input = options.input, .strict = options.strict, .places_before = !writes && !filters},
      io.in, io.err);
  if (!fixes) return kExitUnusable;
  const bool lists = options.output.Is("diff");
  if (lists) PrintFaults(fixes->after.decisions, io.err);
  bool failed = false;
  std::set<std::string> written;
  int exit_code = kExitDone;
  const bool usable = ExitCode(fixes->after.decisions) != kExitUnusable;
  if (writes) written = WriteAll(fixes->files, lists, failed, io);
  if (!lists) {
    const Printers printers = {
        .document = [&] { return FixesJson(fixes->files, written); }, .names = {}, .text = {}};
    exit_code = PrintOutput(options.output, printers, io);
  } else if (filters && usable) {
    if (!PrintFixedText(fixes->files.front(), io)) return kExitUnusable;
  } else if (!writes && !filters) {
    PrintDifferences(fixes->files, Paint(options.color, io.out_is_terminal), io.out);
  }
  io.out.flush();
  if (lists) {
    PrintLeft(fixes->files, Paint(options.color, io.err_is_terminal), io.err);
  }
  offline::PrintSkipped(fixes->after.skipped, io.err);
  const auto any = [&](auto test) {
    return std::any_of(fixes->files.begin(), fixes->files.end(), test);
  };
  const bool would_change =
      !writes && !filters && any([](const FixedFile& file) { return file.IsChanged(); });
  const bool left = any([](const FixedFile& file) {
    return std::any_of(file.left.begin(), file.left.end(),
                       [](const LeftField& one) { return one.MustChange(); });
  });
  if (!usable || exit_code == kExitUnusable) return kExitUnusable;
  return failed || would_change || left ? kExitDenied : kExitDone;
}

void AddFix(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<FixCommandOptions>();
  CLI::App* command = parent.add_subcommand(
      "fix", "Write into manifests what admission would add, and corrections that leave no choice");
  AddWritableInputOptions(*command, options->input);
  command->add_option("-k,--kustomize", options->input.kustomizations)
      ->allow_extra_args(false)
      ->group("");  // for its message
  AddSwitch(*command, "--in-place", options->in_place,
            "Write the files. Without it the difference is printed", "IN_PLACE");
  AddDryRun(*command, options->dry_run,
            "Print the difference without writing anything, also with --in-place and for standard "
            "input",
            "FIX_DRY_RUN", /*server=*/false);
  AddSwitch(*command, "--strict", options->strict, "Treat warnings as denials", "STRICT");
  AddOutputOption(*command, options->output, {"diff", "json", "jsonpath"}, "FIX_OUTPUT")
      ->description(
          "Output format: diff prints the difference or, with --in-place, a line for each file; "
          "json lists what is written and what is left, and jsonpath reads that document");
  AddColorOption(*command, options->color);
  command->footer(
      R"(Only the bytes that must change do: comments, order, quotes, anchors and line ends stay. A second run changes nothing.
What cannot be written safely, and what is yours to decide, is listed with its place and the fix.

Exit codes: 0 nothing is left to do, 1 something would change, is denied, or was not written, 2 the input or the arguments are invalid.
With --in-place and for standard input, what was changed counts as done.

Examples:
  mindgate fix -f job.yaml                    show what would change
  mindgate fix -f job.yaml --in-place         write it
  mindgate fix -f manifests/ --in-place       fix a whole repository
  mindgate fix -f manifests/ >/dev/null       check in CI that nothing is left to fix
  mindgate fix -f - <job.yaml >fixed.yaml     use it as a filter)");
  command->callback([options, &io, &exit_code] {
    options->input.now = SystemClock().WallNow();
    exit_code = RunFix(*options, io);
  });
}

}  // namespace mindgate::cli
