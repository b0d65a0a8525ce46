// Recursive descent over the statements that LLVM's backend writes. What it does not know is an error.
#include "lexer.h"
#include "ptx.h"
#include <bit>
#include <cstring>

namespace simt::ptx {

int64_t bytesOfType(std::string_view type) {
  static const std::map<std::string_view, int64_t> table = {
      {"b8", 1},     {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2}, {"s16", 2},  {"f16", 2},
      {"bf16", 2},   {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4}, {"tf32", 4}, {"f16x2", 4},
      {"bf16x2", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16}};
  const auto found = table.find(type);
  return found == table.end() ? 0 : found->second;
}

namespace {

std::vector<std::string> split(const std::string &word) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= word.size();) {
    const size_t dot = std::min(word.find('.', from), word.size());
    parts.push_back(word.substr(from, dot - from));
    from = dot + 1;
  }
  return parts;
}

class Parser {
public:
  explicit Parser(std::string_view text) : in(text) {}

  Module module() {
    in.expect(".version");
    const Token version = in.next();
    const size_t dot = version.text.find('.');
    if (version.kind != Token::NUMBER || dot == std::string::npos)
      throw Error(version.line, "expected a version such as 7.5, found '" + version.text + "'");
    result.version = std::stoi(version.text.substr(0, dot)) * 10 + std::stoi(version.text.substr(dot + 1));
    in.expect(".target");
    result.target = in.word();
    while (in.take(","))
      in.word(); // "debug", texture modes
    in.expect(".address_size");
    const Token size = in.next();
    if (size.text != "64")
      throw Error(size.line, "addresses of " + size.text + " bits; expected 64");
    while (in.peek().kind != Token::END)
      topLevel();
    return std::move(result);
  }

private:
  void topLevel() {
    bool external = false;
    while (in.at(".visible") || in.at(".weak") || in.at(".extern") || in.at(".common"))
      external |= in.next().text == ".extern";
    const int line = in.peek().line;
    if (in.take(".entry"))
      return entry(line);
    if (in.at(".global") || in.at(".const") || in.at(".shared")) {
      result.variables.push_back(variable(external));
      in.expect(";");
      return;
    }
    if (in.take(".file") || in.take(".loc"))
      return skipLine(line);
    if (in.take(".section")) {
      in.word();
      in.expect("{");
      while (!in.take("}"))
        in.next();
      return;
    }
    throw Error(line, "'" + in.peek().text + "' at the top level is not emulated");
  }

  void skipLine(int line) {
    while (in.peek().kind != Token::END && in.peek().line == line)
      in.next();
  }

  int64_t integer() {
    const bool negative = in.take("-");
    const Token token = in.next();
    if (token.kind != Token::NUMBER)
      throw Error(token.line, "expected a number, found '" + token.text + "'");
    std::string text = token.text;
    if (text.back() == 'U')
      text.pop_back();
    size_t used = 0;
    uint64_t value = 0;
    try {
      const bool binary = text.starts_with("0b") || text.starts_with("0B");
      value = binary ? std::stoull(text.substr(2), &used, 2) : std::stoull(text, &used, 0);
      used += binary ? 2 : 0;
    } catch (const std::exception &) {
      used = 0;
    }
    if (used != text.size())
      throw Error(token.line, "'" + token.text + "' is no whole number");
    return negative ? -(int64_t)value : (int64_t)value;
  }

  // .space [.align n] .type name [dimensions] [= value], the space's word next.
  Variable variable(bool external) {
    Variable result;
    result.line = in.peek().line;
    result.space = in.word().substr(1);
    std::string type;
    for (;;) {
      if (in.take(".align"))
        result.align = integer();
      else if (in.take(".ptr")) {
        // Of a parameter: what it points to, of no consequence here.
      } else if (in.at(".global") || in.at(".shared") || in.at(".const") || in.at(".local"))
        in.next();
      else if (in.peek().kind == Token::WORD && in.peek().text[0] == '.')
        type = in.next().text.substr(1);
      else
        break;
    }
    const int64_t element = bytesOfType(type);
    if (!element)
      throw Error(result.line, "a variable of type '." + type + "' is not emulated");
    if (result.space != "param" || result.align < element)
      result.align = std::max(result.align, element);
    result.name = in.word();
    result.bytes = element;
    while (in.take("[")) {
      if (in.take("]")) {
        result.bytes = 0;
        continue;
      }
      result.bytes *= integer();
      in.expect("]");
    }
    result.external = external;
    if (in.take("="))
      initial(result, type, element);
    return result;
  }

  void initial(Variable &variable, const std::string &type, int64_t element) {
    variable.initial.assign(variable.bytes, 0);
    int64_t at = 0;
    const auto one = [&] {
      Operand value = number();
      if (value.kind == Operand::INTEGER && (type == "f32" || type == "f64"))
        throw Error(variable.line, "initial values of ." + type + " that are whole numbers are not emulated");
      if (at + element > variable.bytes)
        throw Error(variable.line, "more initial values than '" + variable.name + "' has elements");
      std::memcpy(variable.initial.data() + at, &value.value, element);
      at += element;
    };
    if (!in.take("{"))
      return one();
    int depth = 1; // rows of arrays may have braces of their own; all rows are written in full
    while (depth) {
      if (in.take("{"))
        ++depth;
      else if (in.take("}"))
        --depth;
      else if (!in.take(","))
        one();
    }
  }

  Operand number() {
    Operand result;
    const Token token = in.peek();
    if (token.kind == Token::NUMBER && token.text.size() == 10 &&
        (token.text.starts_with("0f") || token.text.starts_with("0F"))) {
      result.kind = Operand::FLOAT32;
      result.value = std::stoll(in.next().text.substr(2), nullptr, 16);
    } else if (token.kind == Token::NUMBER && token.text.size() == 18 &&
               (token.text.starts_with("0d") || token.text.starts_with("0D"))) {
      result.kind = Operand::FLOAT64;
      result.value = (int64_t)std::stoull(in.next().text.substr(2), nullptr, 16);
    } else {
      result.kind = Operand::INTEGER;
      result.value = integer();
    }
    return result;
  }

  void entry(int line) {
    Function function;
    function.line = line;
    function.name = in.word();
    if (in.take("(") && !in.take(")")) {
      do
        function.parameters.push_back(variable(false));
      while (in.take(","));
      in.expect(")");
    }
    while (!in.at("{")) {
      const Token directive = in.next();
      int64_t product = integer();
      while (in.take(","))
        product *= integer();
      if (directive.text == ".maxntid")
        function.maxThreads = product;
      else if (directive.text == ".reqntid")
        function.requiredThreads = product;
      else if (directive.text != ".minnctapersm" && directive.text != ".maxnreg")
        throw Error(directive.line, "'" + directive.text + "' is not emulated");
    }
    in.expect("{");
    scopes = {{}};
    block(function);
    result.functions.push_back(std::move(function));
  }

  // Statements up to the closing brace. A nested block has registers of its own; labels are the function's.
  void block(Function &function) {
    while (!in.take("}")) {
      const Token token = in.peek();
      if (in.take("{")) {
        scopes.emplace_back();
        block(function);
        scopes.pop_back();
      } else if (in.take(".reg")) {
        registers(function);
      } else if (in.at(".local") || in.at(".shared")) {
        function.variables.push_back(variable(false));
        in.expect(";");
      } else if (in.take(".pragma")) {
        while (!in.take(";"))
          in.next();
      } else if (in.take(".loc") || in.take(".file")) {
        skipLine(token.line);
      } else if (token.kind == Token::WORD || in.at("@")) {
        statement(function);
      } else {
        throw Error(token.line, "'" + token.text + "' where an instruction was expected");
      }
    }
  }

  void registers(Function &function) {
    const int line = in.peek().line;
    const std::string type = in.word().substr(1);
    if (type != "pred" && !bytesOfType(type))
      throw Error(line, "registers of type '." + type + "' are not emulated");
    do {
      const std::string name = in.word();
      if (in.take("<")) {
        const int64_t count = integer();
        in.expect(">");
        for (int64_t i = 0; i < count; ++i)
          declare(function, name + std::to_string(i), type, line);
      } else {
        declare(function, name, type, line);
      }
    } while (in.take(","));
    in.expect(";");
  }

  void declare(Function &function, const std::string &name, const std::string &type, int line) {
    std::string unique = name;
    if (scopes.size() > 1)
      unique += "@" + std::to_string(++nested);
    if (!scopes.back().emplace(name, unique).second)
      throw Error(line, "register '" + name + "' is declared twice");
    function.registers[unique] = type;
  }

  // The register that a name means here, or the name itself.
  std::string resolve(const std::string &name) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end())
        return found->second;
    return name;
  }

  void statement(Function &function) {
    Instruction instruction;
    instruction.line = in.peek().line;
    if (in.take("@")) {
      instruction.guardNegated = in.take("!");
      instruction.guard = resolve(in.word());
      if (!function.registers.contains(instruction.guard))
        throw Error(instruction.line, "'" + instruction.guard + "' is no register");
    }
    const std::string word = in.word();
    if (in.take(":")) {
      if (in.take(".branchtargets")) {
        do
          function.branchTargets[word].push_back(in.word());
        while (in.take(","));
        in.expect(";");
        return;
      }
      if (!function.labels.emplace(word, function.body.size()).second)
        throw Error(instruction.line, "label '" + word + "' stands twice");
      return;
    }
    instruction.opcode = split(word);
    if (!in.take(";")) {
      do
        instruction.operands.push_back(operand());
      while (in.take(","));
      in.expect(";");
    }
    function.body.push_back(std::move(instruction));
  }

  Operand operand() {
    Operand result;
    if (in.take("{")) {
      result.kind = Operand::VECTOR;
      do
        result.items.push_back(operand());
      while (in.take(","));
      in.expect("}");
      return result;
    }
    if (in.take("[")) {
      result.kind = Operand::ADDRESS;
      if (in.peek().kind == Token::WORD)
        result.name = resolve(in.word());
      else
        result.value = integer();
      offset(result);
      in.expect("]");
      return result;
    }
    if (in.peek().kind == Token::NUMBER || in.at("-"))
      return number();
    result.negated = in.take("!");
    result.name = resolve(in.word());
    if (in.take("|")) {
      Operand second;
      second.name = resolve(in.word());
      Operand first = std::move(result);
      result = Operand();
      result.kind = Operand::PAIR;
      result.items = {std::move(first), std::move(second)};
      return result;
    }
    offset(result);
    return result;
  }

  // "+8", "+-8" or "-8" after a base.
  void offset(Operand &base) {
    if (in.take("+"))
      base.value += integer();
    else if (in.at("-"))
      base.value += integer();
  }

  Lexer in;
  Module result;
  std::vector<std::map<std::string, std::string>> scopes;
  int nested = 0;
};

} // namespace

Module parse(std::string_view text) { return Parser(text).module(); }

} // namespace simt::ptx
