#include "export/exported_rule.h"

#include <algorithm>

namespace mindgate::exported {
namespace {

// Rules without a row, by the reason.
struct Reason {
  std::string_view why;
  std::string_view ids;
};

constexpr Reason kReasons[] = {
    {"the API server refuses such objects before policies see them", "MG001"},
    {"it is a limit of mindgate's own", "MG003"},
    {"it compares spellings, for which CEL has no function",
     "MG004 MG014 MG040 MG048 MG049 MG067 MG102 MG109 MG128 MG164"},
    {"it reads other objects",
     "MG020 MG027 MG031 MG032 MG033 MG038 MG046 MG111 MG112 MG116 MG162 MG165 MG167 MG171 MG179 "
     "MG195 MG196"},
    {"it reads a document inside of the object, for which CEL has no function",
     "MG035 MG036 MG037 MG039 MG045"},
    {"it needs the table of servers and their chips",
     "MG005 MG006 MG080 MG081 MG082 MG085 MG086 MG087 MG088 MG089 MG090 MG091 MG092 MG093 MG094 "
     "MG095 MG096 MG097 MG098 MG099 MG107 MG108 MG160 MG161 MG163 MG185 MG186 MG189"},
    {"it counts what a gang has and what a rollout leaves of it",
     "MG071 MG072 MG074 MG075 MG076 MG077 MG078 MG138 MG172 MG177"},
    {"it follows what mindgate injects", "MG009 MG028 MG068 MG103 MG180"},
    {"it is not written in CEL yet", "MG151 MG175 MG182"},
};

}  // namespace

std::string_view WhyNotExported(std::string_view id) {
  for (const Reason& reason : kReasons) {
    if (reason.ids.find(id) != std::string_view::npos) return reason.why;
  }
  return {};
}

Rows ExportedRules(const schemas::Config& config) {
  Rows all;
  for (const Rows& family : {ValueRows(), RecoveryRows(config), PodRows(config),
                             ResourceRows(config), AscendJobRows(config), MindieRows(),
                             VolcanoRows(config), OmeRows(), AibrixRows(), InferOperatorRows()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  std::ranges::sort(all, {}, &ExportedRule::id);
  return all;
}

}  // namespace mindgate::exported
