#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/names.h"

// Labels and annotations with values of their own, wherever they reach pods or PodGroups.
namespace mindgate::exported {
namespace {

// The texts under the key, in the maps of that variable, for which `broken` is true of `v`.
ExportedRule OfValues(std::string_view id, std::string_view maps, std::string_view key,
                      const std::string& broken) {
  return {.id = id,
          .found = ValuesIn("variables." + std::string(maps), key) +
                   ".filter(v, type(v) == string && (" + broken + "))"};
}

ExportedRule OfLabel(std::string_view id, std::string_view key, const std::string& broken) {
  return OfValues(id, "labelMaps", key, broken);
}

ExportedRule OfAnnotation(std::string_view id, std::string_view key, const std::string& broken) {
  return OfValues(id, "annotationMaps", key, broken);
}

std::string NoneOf(std::initializer_list<std::string_view> values) {
  return "!(v in " + ListOf(values) + ")";
}

std::string Unlike(std::string_view pattern) { return "!v.matches(" + Quoted(pattern) + ")"; }

// FAULT or FAULT:SECONDS, separated by commas; both may be full-width.
std::string FaultFilters() {
  constexpr std::string_view kSeconds =
      "([+]?0*([0-9]{1,4}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}|86400)|-0+)";
  const std::string filter =
      "[^,:\xEF\xBC\x8C\xEF\xBC\x9A]*[^,:\xEF\xBC\x8C\xEF\xBC\x9A\\s]"
      "[^,:\xEF\xBC\x8C\xEF\xBC\x9A]*([:\xEF\xBC\x9A]\\s*" +
      std::string(kSeconds) + "\\s*)?";
  return "^" + filter + "([,\xEF\xBC\x8C]" + filter + ")*$";
}

}  // namespace

Rows ValueRows() {
  constexpr std::string_view kStrategy =
      "(retry|recover|recover-in-place|elastic-training|dump|exit)";
  const std::string filters = "!v.contains('[') && " + Unlike(FaultFilters());
  const ExportedRule codes = OfAnnotation("MG062", "huawei.com/schedule.filter.faultCode", filters);
  const ExportedRule levels =
      OfAnnotation("MG062", "huawei.com/schedule.filter.faultLevel", filters);
  return {
      {.id = "MG002",
       .found = "(['mindgate.io/inject'].filter(k, k in variables.labels && "
                "!(variables.labels[k] in ['enabled', 'disabled'])).map(k, variables.labels[k])) + "
                "(['mindgate.io/inject'].filter(k, k in variables.annotations)"
                ".map(k, dyn('annotation')))"},
      OfLabel("MG050", schemas::kFaultScheduling,
              NoneOf({"force", "grace", "external-force", "external-grace", "off"})),
      OfLabel("MG051", schemas::kPodRescheduling, NoneOf({"on", "off", "false"})),
      OfLabel("MG052", schemas::kSubHealthyStrategy,
              NoneOf({"ignore", "graceExit", "forceExit", "hotSwitch"})),
      OfLabel("MG053", schemas::kFaultRetryTimes, Unlike(kWholeFromZero)),
      OfLabel("MG054", schemas::kProcessRecover, NoneOf({"on", "off", "pause"})),
      OfAnnotation("MG059", schemas::kRecoverPolicyPath, NoneOf({"pod"})),
      OfAnnotation("MG061", "wait-reschedule-timeout",
                   Unlike("^[+]?0*([3-9][0-9]|1[0-9][0-9]|2[0-6][0-9]|270)$")),
      {.id = "MG062", .found = codes.found + " + " + levels.found},
      OfAnnotation(
          "MG063", schemas::kRecoverStrategy,
          Unlike("^" + std::string(kStrategy) + "(," + std::string(kStrategy) + "){0,31}$")),
      OfLabel("MG064", schemas::kFaultScheduling, "v in ['external-force', 'external-grace']"),
      OfLabel("MG065", "tor-affinity", NoneOf({"large-model-schema", "normal-schema", "null"})),
      OfAnnotation("MG070", schemas::kMinAvailable,
                   Unlike("^[+]?0*([1-9][0-9]{0,8}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|"
                          "214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7][0-9]{4}|"
                          "214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|"
                          "214748364[0-7])$")),
      OfLabel("MG187", schemas::kSubHealthyStrategy,
              "v == 'hotSwitch' && !(request.kind.kind == 'Pod' && "
              "object.?metadata.?ownerReferences.orValue([])"
              ".exists(o, o.?controller.orValue(false)))"),
      OfLabel("MG188", schemas::kFaultScheduling,
              "v == 'force' && type(variables.annotations[?'recover-strategy'].orValue(null)) == "
              "string"),
  };
}

}  // namespace mindgate::exported
