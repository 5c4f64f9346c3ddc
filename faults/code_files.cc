#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "faults/codes.h"
#include "json/decode.h"

namespace mindgate::faults {
namespace {

using json::Value;
using std::chrono::seconds;

// --- lists of codes ------------------------------------------------------------------------------

struct CodeList {
  CodeSource source;
  std::string_view name;
  FaultLevel level;
  bool of_network = false;  // counts for codes of links only
};

// ascend-device-plugin/pkg/common/fault_code.go (faultFileInfo, SwitchFaultFileInfo),
// noded/pkg/common (FaultTypeCode) and clusterd/pkg/domain/publicfault.
constexpr CodeList kCodeLists[] = {
    {CodeSource::kChip, "NotHandleFaultCodes", FaultLevel::kNotHandle},
    {CodeSource::kChip, "NotHandleFaultNetworkCodes", FaultLevel::kNotHandle, true},
    {CodeSource::kChip, "SubHealthFaultCodes", FaultLevel::kSubHealth},
    {CodeSource::kChip, "SubHealthFaultNetworkCodes", FaultLevel::kSubHealth, true},
    {CodeSource::kChip, "RestartRequestCodes", FaultLevel::kRestartRequest},
    {CodeSource::kChip, "RestartBusinessCodes", FaultLevel::kRestartBusiness},
    {CodeSource::kChip, "FreeRestartNPUCodes", FaultLevel::kFreeRestart},
    {CodeSource::kChip, "RestartNPUCodes", FaultLevel::kRestart},
    {CodeSource::kChip, "PreSeparateNPUCodes", FaultLevel::kPreSeparate},
    {CodeSource::kChip, "PreSeparateNPUNetworkCodes", FaultLevel::kPreSeparate, true},
    {CodeSource::kChip, "SeparateNPUCodes", FaultLevel::kSeparate},
    {CodeSource::kChip, "SeparateNPUNetworkCodes", FaultLevel::kSeparate, true},
    {CodeSource::kSwitch, "NotHandleFaultCodes", FaultLevel::kNotHandle},
    {CodeSource::kSwitch, "SubHealthFaultCodes", FaultLevel::kSubHealth},
    {CodeSource::kSwitch, "RestartRequestFaultCodes", FaultLevel::kRestartRequest},
    {CodeSource::kSwitch, "PreSeparateFaultCodes", FaultLevel::kPreSeparate},
    {CodeSource::kSwitch, "ResetFaultCodes", FaultLevel::kSeparate},
    {CodeSource::kSwitch, "SeparateFaultCodes", FaultLevel::kSeparate},
    {CodeSource::kNode, "NotHandleFaultCodes", FaultLevel::kNotHandle},
    {CodeSource::kNode, "PreSeparateFaultCodes", FaultLevel::kPreSeparate},
    {CodeSource::kNode, "SeparateFaultCodes", FaultLevel::kSeparate},
    {CodeSource::kPublic, "NotHandleFaultCodes", FaultLevel::kNotHandle},
    {CodeSource::kPublic, "SubHealthFaultCodes", FaultLevel::kSubHealth},
    {CodeSource::kPublic, "PreSeparateNPUCodes", FaultLevel::kPreSeparate},
    {CodeSource::kPublic, "SeparateNPUCodes", FaultLevel::kSeparate},
};

// The member that holds the lists; empty: the text is the lists.
std::string_view MemberOfLists(CodeSource source) {
  switch (source) {
    case CodeSource::kChip:
    case CodeSource::kSwitch:
      return "";
    case CodeSource::kNode:
      return "FaultTypeCode";
    case CodeSource::kPublic:
      return "publicFaultCode";
  }
  return "";
}

constexpr size_t kMaxHexDigits = 16;   // the device plugin reads an int64
constexpr size_t kMaxSwitchCode = 50;  // isValidSwitchFaultCode
constexpr size_t kPartsOfSwitchCode = 4;

// As people see a text that somebody else wrote.
std::string ShownText(std::string_view text) {
  constexpr size_t kMaxShown = 60;
  return Quote(Cut(std::string(text), kMaxShown));
}

const Value* FindAnyCase(const Value& object, std::string_view name) {
  if (!json::IsObject(&object)) return nullptr;
  for (const auto& [key, value] : object.members()) {
    if (EqualIgnoreCase(key, name)) return &value;
  }
  return nullptr;
}

bool IsNull(const Value* value) { return value == nullptr || value->is_null(); }

bool IsHex(std::string_view code) {
  return !code.empty() && code.size() <= kMaxHexDigits &&
         std::all_of(code.begin(), code.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// What is wrong with a code; empty: nothing.
std::string FaultOfCode(std::string_view code, CodeSource source) {
  if (source != CodeSource::kSwitch) {
    return IsHex(code) ? "" : " is not a code: write up to 16 hex digits, as in 80E18005";
  }
  const bool right = code.size() <= kMaxSwitchCode && code.starts_with('[') &&
                     code.ends_with(']') && Split(code, ',').size() == kPartsOfSwitchCode;
  return right ? "" : " is not a code of a switch: write it as in [0x08520003,na,L2,na]";
}

// The texts of a list; nothing when it is none.
std::optional<std::vector<std::string_view>> TextsOf(const Value* list) {
  std::vector<std::string_view> texts;
  if (IsNull(list)) return texts;
  if (!json::IsArray(list)) return std::nullopt;
  for (const Value& each : *list) {
    const auto text = json::AsString(&each);
    if (!text) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

const CodeList* ListNamed(CodeSource source, std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kCodeLists), std::end(kCodeLists), [&](const CodeList& list) {
        return list.source == source && EqualIgnoreCase(list.name, name);
      });
  return found == std::end(kCodeLists) ? nullptr : found;
}

void ReportUnknownList(CodeSource source, std::string_view name, TextProblems& problems) {
  std::vector<std::string_view> names;
  for (const CodeList& list : kCodeLists) {
    if (list.source == source) names.push_back(list.name);
  }
  const auto near = NearestOf(name, names);
  problems.Add(ShownText(name) + " is not a list of a level, so its codes have no level" +
               (near ? "; did you mean " + Quote(*near) + "?" : "; write " + OneOf(names)));
}

// fault_code.go, mappingChipFaultToNetworkFaultCodesNotSupport.
bool IsRefusedForLinks(FaultLevel level) {
  return level >= FaultLevel::kRestartRequest && level <= FaultLevel::kRestart;
}

// The document of a text; nothing, and a problem, when it is none.
std::optional<json::Document> ParseText(std::string_view text, TextProblems& problems) {
  auto document = json::Document::Decode(text);
  if (document) return *std::move(document);
  problems.Add("it is not JSON: " + document.error().message);
  return std::nullopt;
}

// --- faultCustomization.json ---------------------------------------------------------------------

// ascend-device-plugin/pkg/common/constants.go.
struct NumberBounds {
  std::string_view name;
  int64_t least;
  int64_t most;
};
constexpr NumberBounds kTimeWindow = {"TimeWindow", 60, 864'000};
constexpr NumberBounds kTimes = {"Times", 1, 100};
constexpr int64_t kNeverReleased = int64_t{1} << 32;
constexpr NumberBounds kReleaseTimeWindow = {"ReleaseTimeWindow", 60, kNeverReleased};
constexpr NumberBounds kFaultTimeout = {"FaultTimeout", 0, 600};
constexpr NumberBounds kRecoverTimeout = {"RecoverTimeout", 0, 86'400};

// An entry of one of its lists.
class CustomEntry {
 public:
  CustomEntry(const Value& value, std::string where, TextProblems& problems)
      : value_(value), where_(std::move(where)), problems_(problems) {}

  // 0 when it is missing, as in Go. A value of another type spoils the whole text.
  int64_t Number(const NumberBounds& bounds) {
    const Value* value = FindAnyCase(value_, bounds.name);
    if (IsNull(value)) return 0;
    const auto number = json::AsInt(value);
    if (!number) Spoil(bounds.name, "a whole number");
    return number.value_or(0);
  }
  std::string_view Text(std::string_view name) {
    const Value* value = FindAnyCase(value_, name);
    if (IsNull(value)) return "";
    const auto text = json::AsString(value);
    if (!text) Spoil(name, "a text");
    return text.value_or("");
  }
  std::vector<std::string_view> Texts(std::string_view name) {
    auto texts = TextsOf(FindAnyCase(value_, name));
    if (!texts) Spoil(name, "a list of texts");
    return texts ? *std::move(texts) : std::vector<std::string_view>();
  }

  void Require(bool right, const std::string& what) {
    if (right || spoilt_) return;
    if (!left_out_)
      problems_.Add(where_ + ": " + what + "; the device plugin leaves the entry out");
    left_out_ = true;
  }
  void RequireWithin(int64_t number, const NumberBounds& bounds) {
    Require(number >= bounds.least && number <= bounds.most,
            std::string(bounds.name) + " is " + std::to_string(number) +
                ", and has to be a number of " + std::to_string(bounds.least) + " to " +
                std::to_string(bounds.most));
  }
  std::optional<FaultLevel> RequireLevel(std::string_view text, FaultLevel worst) {
    const auto level = ReadFaultLevel(text);
    // Only as chips spell it.
    const bool right =
        level && FaultLevelName(*level) == text && *level > FaultLevel::kNormal && *level <= worst;
    Require(right, "FaultHandling " + ShownText(text) +
                       " is not a level that it may have, such as PreSeparateNPU");
    return right ? level : std::nullopt;
  }

  bool spoilt() const { return spoilt_; }
  bool counts() const { return !spoilt_ && !left_out_; }

 private:
  void Spoil(std::string_view name, std::string_view wanted) {
    if (!spoilt_) {
      problems_.Add(where_ + ": " + std::string(name) + " is not " + std::string(wanted));
    }
    spoilt_ = true;
  }

  const Value& value_;
  std::string where_;
  TextProblems& problems_;
  bool spoilt_ = false;
  bool left_out_ = false;
};

// The first entry of a code counts.
template <typename When>
void AddWhen(const std::vector<std::string_view>& codes, const When& when,
             std::map<std::string, When, std::less<>>& of_codes, TextProblems& problems) {
  for (const std::string_view code : codes) {
    if (!IsHex(code)) {
      problems.Add("EventId " + ShownText(code) + FaultOfCode(code, CodeSource::kChip));
    } else if (of_codes.size() >= kMaxCodes) {
      problems.Add("there are more than 10,000 codes; the others do not count");
      return;
    } else {
      of_codes.emplace(ToLower(code), when);
    }
  }
}

// Whether the text may still count.
bool ReadRepeats(const Value& value, const std::string& where, Customization& all,
                 TextProblems& problems) {
  CustomEntry entry(value, where, problems);
  const auto codes = entry.Texts("EventId");
  const int64_t times = entry.Number(kTimes);
  const int64_t within = entry.Number(kTimeWindow);
  const int64_t written = entry.Number(kReleaseTimeWindow);
  const int64_t released = written == 0 ? kNeverReleased : written;
  const std::string_view handling = entry.Text("FaultHandling");
  entry.Require(!codes.empty(), "EventId names no code");
  entry.RequireWithin(within, kTimeWindow);
  entry.RequireWithin(released, kReleaseTimeWindow);
  entry.RequireWithin(times, kTimes);
  const auto level = entry.RequireLevel(handling, FaultLevel::kManuallySeparate);
  entry.Require(level == FaultLevel::kManuallySeparate || released != kNeverReleased,
                "FaultHandling " + ShownText(handling) + " needs a ReleaseTimeWindow");
  if (entry.spoilt()) return false;
  if (!entry.counts() || !level) return true;
  WhenItRepeats when{times, seconds(within), *level, std::nullopt};
  if (released != kNeverReleased) when.gone = seconds(released);
  AddWhen(codes, when, all.repeats, problems);
  return true;
}

bool ReadLasts(const Value& value, const std::string& where, Customization& all,
               TextProblems& problems) {
  CustomEntry entry(value, where, problems);
  const auto codes = entry.Texts("EventId");
  const int64_t time = entry.Number(kFaultTimeout);
  const int64_t gone = entry.Number(kRecoverTimeout);
  const std::string_view handling = entry.Text("FaultHandling");
  entry.Require(!codes.empty(), "EventId names no code");
  entry.RequireWithin(time, kFaultTimeout);
  entry.RequireWithin(gone, kRecoverTimeout);
  const auto level = entry.RequireLevel(handling, FaultLevel::kSeparate);
  if (entry.spoilt()) return false;
  if (!entry.counts() || !level) return true;
  AddWhen(codes, WhenItLasts{seconds(time), *level, seconds(gone)}, all.lasts, problems);
  return true;
}

// Calls `read` for each entry of a list; false when the text cannot count.
template <typename Read>
bool ReadEntries(const Value& root, std::string_view name, Customization& all,
                 TextProblems& problems, const Read& read) {
  const Value* list = FindAnyCase(root, name);
  if (IsNull(list)) return true;
  if (!json::IsArray(list)) {
    problems.Add(std::string(name) + " is not a list");
    return false;
  }
  size_t index = 0;
  for (const Value& value : *list) {
    const std::string where = std::string(name) + "[" + std::to_string(index++) + "]";
    if (!json::IsObject(&value)) {
      problems.Add(where + " is not an object");
      return false;
    }
    if (!read(value, where, all, problems)) return false;
  }
  return true;
}

}  // namespace

void TextProblems::Add(std::string problem) {
  if (first_.size() < kMax) {
    first_.push_back(std::move(problem));
  } else {
    ++more_;
  }
}

void TextProblems::AppendTo(std::vector<std::string>& problems, const std::string& where) const {
  for (const std::string& problem : first_) problems.push_back(where + problem);
  if (more_ > 0) problems.push_back(where + "it has " + std::to_string(more_) + " more faults");
}

std::optional<std::vector<CodeLevel>> ReadCodeLevels(std::string_view text, CodeSource source,
                                                     TextProblems& problems) {
  const auto document = ParseText(text, problems);
  if (!document) return std::nullopt;
  const std::string_view member = MemberOfLists(source);
  const Value* lists = member.empty() ? &document->root() : FindAnyCase(document->root(), member);
  if (!json::IsObject(lists)) {
    problems.Add("it is not an object with lists of codes");
    return std::nullopt;
  }
  std::vector<CodeLevel> codes;
  for (const auto& [name, value] : lists->members()) {
    const CodeList* list = ListNamed(source, name);
    if (list == nullptr) {
      ReportUnknownList(source, name, problems);
      continue;
    }
    const auto of_list = TextsOf(&value);
    if (!of_list) {
      problems.Add(std::string(list->name) + " is not a list of texts");
      return std::nullopt;
    }
    for (const std::string_view code : *of_list) {
      if (codes.size() >= kMaxCodes) {
        problems.Add("there are more than 10,000 codes; the others do not count");
        return codes;
      }
      if (const std::string fault = FaultOfCode(code, source); !fault.empty()) {
        problems.Add(std::string(list->name) + ": " + ShownText(code) + fault);
        continue;
      }
      const bool of_link = source == CodeSource::kChip && IsNetworkCode(code);
      if (list->of_network && !of_link) continue;
      if (of_link && IsRefusedForLinks(list->level)) {
        problems.Add(std::string(code) + " is a fault of a link and cannot have the level " +
                     std::string(FaultLevelName(list->level)) +
                     "; the device plugin makes it NotHandleFault");
        codes.push_back({std::string(code), FaultLevel::kNotHandle});
        continue;
      }
      codes.push_back({std::string(code), list->level});
    }
  }
  return codes;
}

std::optional<Customization> ReadCustomization(std::string_view text, TextProblems& problems) {
  const auto document = ParseText(text, problems);
  if (!document) return std::nullopt;
  if (!json::IsObject(&document->root())) {
    problems.Add("it is not an object");
    return std::nullopt;
  }
  Customization all;
  const bool counts = ReadEntries(document->root(), "FaultFrequency", all, problems, ReadRepeats) &&
                      ReadEntries(document->root(), "FaultDuration", all, problems, ReadLasts);
  if (!counts) return std::nullopt;
  return all;
}

std::optional<std::vector<FaultRelation>> ReadRelations(std::string_view text,
                                                        std::string_view waits,
                                                        TextProblems& problems) {
  const auto of_relations = ParseText(text, problems);
  const auto of_waits = ParseText(waits, problems);
  if (!of_relations || !of_waits) return std::nullopt;
  if (!json::IsArray(&of_relations->root()) || !json::IsArray(&of_waits->root())) {
    problems.Add("it is not a list");
    return std::nullopt;
  }
  std::map<std::string, seconds, std::less<>> wait_of;
  for (const Value& value : of_waits->root()) {
    wait_of.emplace(json::FindString(value, "FaultCode").value_or(""),
                    json::AsInt(json::Find(value, "TimeOutInterval")).value_or(0));
  }
  std::vector<FaultRelation> relations;
  for (const Value& value : of_relations->root()) {
    FaultRelation relation;
    relation.trigger = json::FindString(value, "TriggerFault").value_or("");
    relation.strategy = json::FindString(value, "FaultStrategy").value_or("");
    const auto with = TextsOf(json::Find(value, "RelationFaults"));
    if (relation.trigger.empty() || !with || with->empty() ||
        (relation.strategy != "Separate" && relation.strategy != "SubHealth")) {
      problems.Add("an entry is not a TriggerFault, RelationFaults and a FaultStrategy");
      continue;
    }
    for (const std::string_view code : *with) {
      relation.with.emplace_back(code);
      const auto wait = wait_of.find(code);
      if (wait != wait_of.end()) relation.within = std::max(relation.within, wait->second);
    }
    relations.push_back(std::move(relation));
  }
  return relations;
}

}  // namespace mindgate::faults
