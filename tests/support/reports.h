#pragma once

#include <string>

#include "support/cli.h"
#include "support/workspace.h"

namespace mindgate::testing {

// A folder with every kind of finding. MG050 evaluates the label fault-scheduling; the mode depends
// on the namespace.
class ReportFolder {
 public:
  ReportFolder() {
    workspace_.Write("mindgate.yaml", OnlyConfig({}, {"MG050", "MG053"}) +
                                          "namespaces:\n- {name: warned, rules: {MG050: warn}}\n"
                                          "- {name: audited, rules: {MG050: audit}}\n");
    workspace_.Write("dir/broken.yaml", "apiVersion: v1\nkind: [\n");
    workspace_.Write("dir/denied.yaml", Pod("bad", "default", "fault-scheduling: Force"));
    workspace_.Write("dir/foreign.yaml",
                     "apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: f}\n"
                     "spec:\n  template:\n    spec:\n      containers:\n      - name: main\n"
                     "        resources: {limits: {huawei.com/Ascend910: 1}}\n");
    workspace_.Write("dir/mixed.yaml",
                     Pod("careful", "warned", "fault-scheduling: Force") + "---\n" +
                         Pod("noted", "audited", "fault-scheduling: Force") + "---\n" +
                         Pod("good", "default", "fault-scheduling: force") +
                         "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {}\n");
  }

  static std::string Pod(const std::string& name, const std::string& ns, const std::string& label) {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: " + ns +
           "\n  labels:\n    " + label +
           "\nspec:\n  containers:\n  - name: main\n"
           "    resources: {limits: {huawei.com/Ascend910: 1}}\n";
  }

  // Of `paths`, separated by commas, in the format.
  static CliResult Apply(const std::string& paths, const std::string& format,
                         const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"apply", "-f",       paths,          "-o",
                                          format,  "--config", "mindgate.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Cli(arguments);
  }

  const Workspace& workspace() const { return workspace_; }

 private:
  Workspace workspace_;
};

}  // namespace mindgate::testing
