#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mindgate::cel {

class TimeZones;

// Where the API server answers otherwise than the specification of the language (docs/cel.md lists
// it): which of them is followed. tests/oracle/cel has the answers of both.
enum class Dialect : uint8_t { kKubernetes, kSpecification };

// A variable that expressions may name. A name with dots ("variables.replicas") is one variable.
struct Variable {
  std::string name;
  // "dyn", "int", "string", "list(string)", "map(string, dyn)", "timestamp" ... Values are not
  // checked against it: they must be of that type.
  std::string type = "dyn";
};

// A function that the caller declares, so that an expression is checked. Nothing evaluates it.
struct Declaration {
  std::string name;
  std::string signature;  // as in function.h: "(string, int): bool"
};

// What an expression may name beside the functions that all have.
struct Environment {
  std::vector<Variable> variables;
  std::vector<Declaration> functions{};
  std::string container{};  // names are looked for in this namespace and those around it first
  bool check_types = true;  // false: faults of types and names come when it is evaluated
  Dialect dialect = Dialect::kKubernetes;
  bool blocks = false;                    // cel.block and what belongs to it
  const TimeZones* time_zones = nullptr;  // outlives the program; none: only UTC and offsets
};

}  // namespace mindgate::cel
