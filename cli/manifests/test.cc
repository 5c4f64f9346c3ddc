#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/admit.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/console/commands.h"
#include "cli/console/print.h"
#include "cli/manifests/manifests.h"
#include "cli/manifests/report_ci.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/decide.h"
#include "offline/evaluate.h"
#include "offline/suite.h"

namespace mindgate::cli {
namespace {

constexpr std::string_view kMargin = "          ";

std::vector<std::string_view> LinesOfFailure(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return Split(text, '\n');
}

void PrintFailure(const CaseFailure& failure, const Paint& paint, std::ostream& out) {
  out << kMargin << failure.what << ":\n";
  for (std::string_view line : LinesOfFailure(failure.text)) {
    out << kMargin << "  ";
    if (line.starts_with('-')) {
      out << paint(Color::kRed, line);
    } else if (line.starts_with('+')) {
      out << paint(Color::kGreen, line);
    } else {
      out << line;
    }
    out << "\n";
  }
}

}  // namespace

size_t SuiteResult::Failures() const {
  return static_cast<size_t>(std::count_if(
      cases.begin(), cases.end(), [](const CaseResult& c) { return !c.failures.empty(); }));
}

void PrintResults(const std::vector<SuiteResult>& suites, const Paint& paint, std::ostream& out) {
  size_t total = 0;
  size_t failed = 0;
  size_t unusable = 0;
  for (const SuiteResult& suite : suites) {
    out << paint(Color::kBold, suite.name);
    if (suite.name != suite.file) out << " (" << suite.file << ")";
    out << "\n";
    if (!suite.unusable.empty()) {
      out << "  " << paint(Color::kRed, "BAD") << "     " << suite.unusable << "\n";
      ++unusable;
    }
    for (const CaseResult& result : suite.cases) {
      const bool passed = result.failures.empty();
      out << "  "
          << (passed ? paint(Color::kGreen, "ok") + "      " : paint(Color::kRed, "FAILED") + "  ")
          << result.name;
      if (!passed) out << " (" << suite.file << ":" << result.line << ")";
      out << "\n";
      for (const CaseFailure& failure : result.failures) PrintFailure(failure, paint, out);
    }
    total += suite.cases.size();
    failed += suite.Failures();
  }
  out << total << (total == 1 ? " case: " : " cases: ") << total - failed << " passed, " << failed
      << " failed";
  if (unusable > 0) out << "; " << Counted(unusable, "suite") << " not run";
  out << "\n";
}

std::vector<JunitSuite> JunitOf(const std::vector<SuiteResult>& suites) {
  std::vector<JunitSuite> all;
  for (const SuiteResult& suite : suites) {
    JunitSuite& junit = all.emplace_back();
    junit.name = suite.name;
    junit.file = suite.file;
    if (!suite.unusable.empty()) {
      JunitCase& test = junit.cases.emplace_back();
      test.name = suite.file;
      test.class_name = suite.name;
      test.errors.push_back({suite.unusable, ""});
    }
    for (const CaseResult& result : suite.cases) {
      JunitCase& test = junit.cases.emplace_back();
      test.name = result.name;
      test.class_name = suite.name;
      test.file = suite.file;
      test.line = result.line;
      for (const CaseFailure& failure : result.failures) {
        test.failures.push_back({failure.what, failure.text});
      }
    }
  }
  return all;
}

namespace {

using json::Json;

admission::Verdict Admit(const offline::TestCase& test, const offline::Suite& suite, Time now) {
  offline::RequestOptions request;
  request.operation = test.operation;
  request.ns = test.ns;
  request.namespace_labels = test.namespace_labels;
  request.now = suite.now.value_or(now);
  std::vector<offline::InputObject> known = test.others;
  known.push_back(test.input);
  return offline::Decider(known, {}, request, suite.config, {}).Decide(test.input).verdict;
}

// True if `got` has every member of `want`.
bool Covers(const Json& got, const Json& want) {
  return std::all_of(want.items().begin(), want.items().end(), [&got](const auto& member) {
    const Json* value = json::Find(got, member.key());
    return value != nullptr && *value == member.value();
  });
}

// The sorted lists as YAML; matching entries are the same in both.
std::string DiffOfLists(const std::vector<Json>& want, const std::vector<Json>& got) {
  std::vector<Json> left = got;
  std::vector<Json> expected;
  for (const Json& entry : want) {
    const auto match = std::find_if(left.begin(), left.end(), [&entry](const Json& candidate) {
      return Covers(candidate, entry);
    });
    if (match == left.end()) {
      expected.push_back(entry);
    } else {
      expected.push_back(*match);
      left.erase(match);
    }
  }
  std::vector<Json> actual = got;
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  return UnifiedDiff(json::EncodeYaml(expected), json::EncodeYaml(actual),
                     Paint(ColorMode::kNever, false));
}

class Comparison {
 public:
  Comparison(const offline::Expectation& want, const admission::Verdict& got, CaseResult& result)
      : want_(want), got_(got), result_(result) {}

  void Run() {
    const std::string outcome(admission::OutcomeName(got_.outcome));
    if (want_.outcome && *want_.outcome != outcome) {
      result_.failures.push_back({"outcome", "want " + *want_.outcome + ", got " + outcome + "\n"});
    }
    if (got_.outcome == admission::Outcome::kError) {
      for (const auto& finding : got_.findings) {
        result_.failures.push_back({"error", finding.message + "\n"});
      }
    }
    if (want_.patch) {
      Report("patch", UnifiedDiff(json::EncodeYaml(*want_.patch),
                                  json::EncodeYaml(json::ToJsonPatch(got_.patch)), kPlain));
    }
    if (want_.changes) {
      std::vector<Json> changes;
      for (const auto& change : got_.changes) {
        changes.push_back({{"mutator", change.mutator}, {"path", change.path}});
      }
      Report("changes", DiffOfLists(*want_.changes, changes));
    }
    if (want_.findings) {
      std::vector<Json> findings;
      for (const auto& finding : got_.findings) {
        findings.push_back({{"rule", finding.rule == nullptr ? "" : finding.rule->id},
                            {"field", finding.field},
                            {"mode", schemas::ModeName(finding.mode)}});
      }
      Report("findings", DiffOfLists(*want_.findings, findings));
    }
    if (want_.warnings) {
      Report("warnings",
             UnifiedDiff(Join(*want_.warnings, "\n"), Join(got_.warnings, "\n"), kPlain));
    }
  }

 private:
  void Report(const char* what, std::string difference) {
    if (!difference.empty()) result_.failures.push_back({what, std::move(difference)});
  }

  inline static const Paint kPlain{ColorMode::kNever, false};
  const offline::Expectation& want_;
  const admission::Verdict& got_;
  CaseResult& result_;
};

SuiteResult RunSuite(const offline::Suite& suite, Time now) {
  SuiteResult result;
  result.file = suite.file;
  result.name = suite.name;
  for (const offline::TestCase& test : suite.cases) {
    CaseResult& outcome = result.cases.emplace_back();
    outcome.name = test.name;
    outcome.line = test.line;
    const admission::Verdict verdict = Admit(test, suite, now);
    Comparison(test.expect, verdict, outcome).Run();
  }
  return result;
}

}  // namespace

int RunTest(const TestOptions& options, Streams& io) {
  if (options.paths.empty()) {
    PrintError(io.err, "no suites to run", "give files or folders, or - for standard input");
    return kExitUnusable;
  }
  std::vector<SuiteResult> results;
  bool bad = false;
  bool failed = false;
  const auto files = offline::ReadSuites(options.paths, io.in, options.policies);
  if (files.empty()) {
    PrintError(io.err, "no suites in " + Join(options.paths, ", "),
               "a suite is a YAML file with a list of cases");
    return kExitUnusable;
  }
  const auto reads_config_maps = [](const offline::Suite& suite) {
    return suite.config.policy_sources.config_maps;
  };
  if (std::ranges::any_of(files, [&](const offline::SuiteFile& file) {
        return std::ranges::any_of(file.suites, reads_config_maps);
      })) {
    offline::WarnOfConfigMaps(io.err);
  }
  for (const offline::SuiteFile& file : files) {
    if (!file.issues.empty()) {
      bad = true;
      const offline::InputText& input = file.source->input;
      io.err << json::Render(file.issues, input.name, input.text);
      results.push_back({input.name, input.name, {}, "the suite is invalid"});
      continue;
    }
    io.err << json::Render(file.warnings, file.source->input.name, file.source->input.text);
    for (const offline::Suite& suite : file.suites) {
      results.push_back(RunSuite(suite, options.now));
      failed = failed || results.back().Failures() > 0;
    }
  }
  if (options.output == "junit") {
    PrintJunit(JunitOf(results), io.out);
  } else {
    PrintResults(results, Paint(options.color, io.out_is_terminal), io.out);
  }
  return bad ? kExitUnusable : failed ? kExitDenied : kExitDone;
}

void AddTest(CLI::App& parent, Streams& io, int& exit_code) {
  auto options = std::make_shared<TestOptions>();
  CLI::App* command = parent.add_subcommand("test", "Run policy test suites");
  command
      ->add_option("PATH", options->paths,
                   "Suite files, folders with suites, or - for standard input")
      ->type_name("")
      ->envname("MINDGATE_TEST_PATH");
  SetChoices(*command->add_option("-o,--output", options->output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_TEST_OUTPUT"),
             {"text", "junit"});
  AddPoliciesOption(*command, options->policies);
  AddColorOption(*command, options->color);
  command->footer(R"(A suite lists objects and the decisions expected for them:
  name: our services
  config: {rules: {MG050: enforce}}        # content of mindgate.yaml, or a file name
  cases:
    - name: the chat service is scheduled by Volcano
      input: ../manifests/chat.yaml        # or the object itself
      expect:
        outcome: admitted
        changes: [{mutator: scheduler-name, path: /spec/template/spec/schedulerName}]
        findings: []

Exit codes: 0 all cases passed, 1 a case failed, 2 a suite is invalid.

Examples:
  mindgate test policies/
  mindgate test -o junit policies/ > report.xml)");
  command->callback([options, &io, &exit_code] {
    options->now = SystemClock().WallNow();
    exit_code = RunTest(*options, io);
  });
}

}  // namespace mindgate::cli
