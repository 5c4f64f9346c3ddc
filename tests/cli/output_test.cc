#include "cli/console/output.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

namespace mindgate::cli {
namespace {

const std::vector<std::string> kFormats = {"table", "wide", "name", "yaml", "json", "jsonpath"};

// "word" or the fault.
std::string ParsedFormat(const std::string& text) {
  const auto format = ParseOutputFormat(text, kFormats);
  if (!format) return format.error().message();
  return format->word + (format->path ? " with a template" : "");
}

TEST(Output, FormatsOfOneOption) {
  const std::string known =
      " is not supported: write \"table\", \"wide\", \"name\", \"yaml\", \"json\" or "
      "\"jsonpath=TEMPLATE\"";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"table", "table"},
      {"wide", "wide"},
      {"json", "json"},
      {"jsonpath={.a}", "jsonpath with a template"},
      {"jsonpath=text=x", "jsonpath with a template"},
      {"jsn", "\"jsn\"" + known + "; did you mean \"json\"?"},
      {"", "\"\"" + known},
      {"json={.a}", "\"json={.a}\"" + known + "; did you mean \"json\"?"},
      {"jsonpath", "jsonpath has no template: write -o jsonpath='{.metadata.name}', in quotes"},
      {"jsonpath=", "jsonpath has no template: write -o jsonpath='{.metadata.name}', in quotes"},
      {"jsonpath={.a", "jsonpath template, column 1: unclosed brace: add }"},
  };
  for (const auto& [text, parsed] : cases) EXPECT_EQ(ParsedFormat(text), parsed) << text;
}

TEST(Output, AnOptionShowsItsFormats) {
  CLI::App app;
  OutputFormat format("table");
  CLI::Option* option = AddOutputOption(app, format, {"table", "json", "jsonpath"}, "X_OUTPUT");
  EXPECT_EQ(option->get_type_name(), "table|json|jsonpath=TEMPLATE");
  EXPECT_EQ(option->get_envname(), "MINDGATE_X_OUTPUT");
  app.parse("-o jsonpath={.a}");
  EXPECT_EQ(format.word, "jsonpath");
  EXPECT_TRUE(format.path.has_value());
  EXPECT_THROW(app.parse("-o jason"), CLI::ParseError);
}

TEST(Output, OneValueInAllFormats) {
  const Printers printers = {
      .document =
          [] {
            return nlohmann::ordered_json{{"services", {{{"name", "chat"}, {"shape", 2}}}},
                                          {"mode", "off"}};
          },
      .names = [] { return std::vector<std::string>{"service/chat"}; },
      .text = [](std::ostream& out, bool wide) { out << (wide ? "WIDE\n" : "TEXT\n"); }};
  const std::vector<std::tuple<std::string, int, std::string, std::string>> cases = {
      {"json", 0,
       "{\n  \"services\": [\n    {\n      \"name\": \"chat\",\n      \"shape\": 2\n    }\n  ],\n"
       "  \"mode\": \"off\"\n}\n",
       ""},
      {"yaml", 0, "mode: 'off'\nservices:\n- name: chat\n  shape: 2\n", ""},
      {"name", 0, "service/chat\n", ""},
      {"table", 0, "TEXT\n", ""},
      {"wide", 0, "WIDE\n", ""},
      {"jsonpath={.services[*].name}", 0, "chat", ""},
      {"jsonpath={.services[3].name}", 2, "",
       "error: jsonpath template, column 12: the list has 1 element, so index 3 is out of range\n"},
  };
  for (const auto& [text, code, out, err] : cases) {
    std::istringstream in;
    std::ostringstream to_out;
    std::ostringstream to_err;
    Streams io{in, to_out, to_err};
    EXPECT_EQ(PrintOutput(ParseOutputFormat(text, kFormats).value(), printers, io), code) << text;
    EXPECT_EQ(to_out.str(), out) << text;
    EXPECT_EQ(to_err.str(), err) << text;
  }
}

TEST(Output, Tables) {
  Table table({"NAME", "STATE", "WHY"});
  EXPECT_TRUE(table.empty());
  table.Add({"chat", TableCell("held", Color::kYellow), "no room"});
  table.Add({"\u670d\u52a1-long", "ok", ""});
  EXPECT_FALSE(table.empty());
  std::ostringstream plain;
  table.Print(Paint(ColorMode::kNever, false), plain);
  EXPECT_EQ(plain.str(),
            "NAME      STATE   WHY\n"
            "chat      held    no room\n"
            "\u670d\u52a1-long   ok\n");
  std::ostringstream painted;
  TerminalStream terminal(painted);
  table.Print(Paint(ColorMode::kAlways, false), terminal);
  EXPECT_EQ(painted.str(),
            "\033[1mNAME\033[0m      \033[1mSTATE\033[0m   \033[1mWHY\033[0m\n"
            "chat      \033[33mheld\033[0m    no room\n"
            "\u670d\u52a1-long   ok\n");
}

}  // namespace
}  // namespace mindgate::cli
