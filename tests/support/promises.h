#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admit.h"
#include "json/decode.h"
#include "schemas/request.h"

// Two promises of every answer, whatever the object: no finding is about what mindgate itself
// wrote, and no rule refuses what another one's fix suggests. For tables, properties and fuzzers.
namespace mindgate::testing {

namespace internal {

using Findings = std::vector<policies::Finding>;

inline std::string_view IdOf(const policies::Finding& finding) {
  return finding.rule == nullptr ? "-" : finding.rule->id;
}

// Whether the rule says this, or something at this place.
inline bool HasLike(const Findings& findings, const policies::Finding& wanted) {
  return std::any_of(findings.begin(), findings.end(), [&](const policies::Finding& finding) {
    return finding.rule == wanted.rule &&
           (finding.path == wanted.path || finding.message == wanted.message);
  });
}

inline bool Has(const Findings& findings, std::string_view rule) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const policies::Finding& finding) { return IdOf(finding) == rule; });
}

inline Findings EvaluateOnly(schemas::AdmissionRequest request, const json::Value& object,
                             const schemas::Config& config) {
  request.object = &object;
  return admission::Admit(request, config, {.mutate = false}).findings;
}

inline bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == '/';
}

// The texts in quotes at the start of `rest`, listed as in `"a", "b" or "c"`.
inline std::vector<std::string> QuotedList(std::string_view rest) {
  std::vector<std::string> texts;
  while (rest.starts_with('"')) {
    const size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) break;
    texts.emplace_back(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    for (std::string_view between : {", ", " or "}) {
      if (rest.starts_with(std::string(between) + '"')) {
        rest.remove_prefix(between.size());
        break;
      }
    }
  }
  return texts;
}

inline std::string LastToken(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : json::Json::json_pointer(path.substr(slash)).back();
}

}  // namespace internal

// A value that a fix asks the user to write, and where.
struct Suggestion {
  std::string path;
  json::Json value;
};

// Those that a program can read: `write KEY: VALUE` for the field of the finding or its neighbour
// of that name, and `did you mean "VALUE"?`.
inline std::vector<Suggestion> SuggestionsOf(const policies::Finding& finding) {
  std::vector<Suggestion> found;
  const std::string_view fix = finding.fix;
  const std::string own = internal::LastToken(finding.path);
  const size_t parent = finding.path.rfind('/');
  if (parent == std::string::npos) return found;
  constexpr std::string_view kMeant = "did you mean \"";
  if (const size_t at = fix.find(kMeant); at != std::string_view::npos) {
    for (std::string& text : internal::QuotedList(fix.substr(at + kMeant.size() - 1))) {
      found.push_back({finding.path, std::move(text)});
    }
  }
  for (size_t colon = fix.find(": "); colon != std::string_view::npos;
       colon = fix.find(": ", colon + 1)) {
    size_t begin = colon;
    while (begin > 0 && internal::IsKeyCharacter(fix[begin - 1])) --begin;
    const std::string key(fix.substr(begin, colon - begin));
    const bool beside = finding.path.substr(0, parent).ends_with("/labels") ||
                        finding.path.substr(0, parent).ends_with("/annotations");
    if (key.empty() || (key != own && !(beside && own.find(key) == std::string::npos))) continue;
    // A label's neighbour is named in full; other words before a colon are prose.
    if (key != own && (key.find_first_of("-/") == std::string::npos ||
                       (!fix.substr(0, begin).ends_with("write ") &&
                        !fix.substr(0, begin).ends_with("label ")))) {
      continue;
    }
    // The label beside the annotation that a finding is about.
    std::string map = finding.path.substr(0, parent);
    constexpr std::string_view kAnnotations = "/annotations";
    if (map.ends_with(kAnnotations) && fix.substr(0, begin).ends_with("label ")) {
      map.replace(map.size() - kAnnotations.size(), kAnnotations.size(), "/labels");
    }
    const std::string path = map + (json::Json::json_pointer("") / key).to_string();
    const std::string_view rest = fix.substr(colon + 2);
    std::vector<std::string> texts = internal::QuotedList(rest);
    for (std::string& text : texts) found.push_back({path, std::move(text)});
    if (!texts.empty()) continue;
    size_t end = 0;
    while (end < rest.size() && internal::IsKeyCharacter(rest[end])) ++end;
    const std::string word(rest.substr(0, end));
    // "beside replicas of Worker" names another place.
    if (word.empty() || rest.substr(end).starts_with(" beside ")) continue;
    const auto number = json::Json::parse(word, nullptr, false);
    found.push_back({path, number.is_number_integer() ? number : json::Json(word)});
  }
  return found;
}

namespace internal {

// False when the parent is no map: that is a finding of its own.
inline bool Write(const Suggestion& suggestion, json::Json& object) {
  try {
    object[json::Json::json_pointer(suggestion.path)] = suggestion.value;
    return true;
  } catch (const json::Json::exception&) {
    return false;
  }
}

}  // namespace internal

// What is wrong with the answer to one request; empty when both promises are kept.
inline std::vector<std::string> BrokenPromises(const schemas::AdmissionRequest& request,
                                               const schemas::Config& config) {
  std::vector<std::string> broken;
  const admission::Verdict verdict = admission::Admit(request, config);
  if (verdict.outcome == admission::Outcome::kError) return broken;
  const json::Value& object = verdict.mutated ? verdict.mutated->root() : *request.object;
  const internal::Findings& findings = verdict.findings;
  if (verdict.mutated) {
    const internal::Findings before = internal::EvaluateOnly(request, *request.object, config);
    for (const policies::Finding& finding : findings) {
      const std::string_view id = internal::IdOf(finding);
      // It warns of the rollout strategy, beside the gang size that the documents ask for; the
      // watcher takes care of it (design 13).
      if (id == "MG077") continue;
      // Mistakes of the user's that show only once the gang size (sp-block) or the scheduler (a
      // gang of an ordered StatefulSet) that gets injected is known, or the fault labels (a group
      // of a LeaderWorkerSet that does not restart as one).
      const bool shown = id == "MG071" || id == "MG090" || id == "MG137" || id == "MG155";
      const bool ours = std::any_of(
          verdict.changes.begin(), verdict.changes.end(), [&](const mutators::Change& change) {
            return finding.path == change.path ||
                   finding.path.starts_with(std::string(change.path) + "/");
          });
      if (ours || (!shown && !internal::Has(before, id))) {
        broken.push_back(std::string(id) + " only because of what was injected, at " +
                         finding.path + ": " + finding.message);
      }
    }
  }
  const json::Json tree = json::TreeOf(object);
  for (const policies::Finding& finding : findings) {
    // It quotes what stands there; the rules of that key say what it should be.
    if (internal::IdOf(finding) == "MG001") continue;
    const auto suggestions = SuggestionsOf(finding);
    for (size_t i = 0; i < suggestions.size(); ++i) {
      json::Json changed = tree;
      // What the rule says elsewhere is corrected in the same way, as its user would.
      bool written = internal::Write(suggestions[i], changed);
      for (const policies::Finding& other : findings) {
        const auto same = SuggestionsOf(other);
        if (&other == &finding || other.rule != finding.rule || i >= same.size()) continue;
        written = internal::Write(same[i], changed) && written;
      }
      if (!written) continue;
      const json::Document document(changed);
      for (const policies::Finding& now :
           internal::EvaluateOnly(request, document.root(), config)) {
        // Some compare two places and report the other one, or of a mistake that this one hid (no
        // pods at all, another scheduler, what the ConfigMap of that name says).
        const std::string_view id = internal::IdOf(now);
        // On an update it says when the right value takes effect: once the job is created again.
        if (id == "MG028") continue;
        const bool of_others = id == "MG032" || id == "MG057" || id == "MG074" || id == "MG089" ||
                               id == "MG105" || id == "MG130";
        if (now.path != suggestions[i].path || now.rule == finding.rule || of_others ||
            now.mode < schemas::Mode::kWarn || internal::HasLike(findings, now)) {
          continue;
        }
        broken.push_back(std::string(internal::IdOf(finding)) + " suggests " +
                         suggestions[i].value.dump() + " for " + suggestions[i].path + ", but " +
                         std::string(internal::IdOf(now)) + ": " + now.message);
      }
    }
  }
  return broken;
}

}  // namespace mindgate::testing
