#include "cel/library/libraries.h"

#include <array>

namespace mindgate::cel {

std::span<const std::span<const Overload>> Libraries() {
  static const std::array kAll{
      Operators(), Conversions(), Optionals(), Times(),   Strings(), StringFormats(),
      Encoders(),  Lists(),       Sets(),      Numbers(), Regexes(), Quantities(),
      Semvers(),   Networks(),    Urls(),      Formats(),
  };
  return kAll;
}

}  // namespace mindgate::cel
