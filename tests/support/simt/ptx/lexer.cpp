#include "lexer.h"
#include "ptx.h"
#include <cctype>

namespace simt::ptx {

static bool startsWord(char c) {
  return std::isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool inWord(char c) { return startsWord(c) || std::isdigit((unsigned char)c); }

void Lexer::skipSpace() {
  while (!rest.empty()) {
    if (rest[0] == '\n')
      ++line;
    if (std::isspace((unsigned char)rest[0])) {
      rest.remove_prefix(1);
    } else if (rest.starts_with("//")) {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/");
      if (end == rest.npos)
        throw Error(line, "a comment without an end");
      for (const char c : rest.substr(0, end))
        line += c == '\n';
      rest.remove_prefix(end + 2);
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skipSpace();
  token = {Token::END, "", line};
  if (rest.empty())
    return;
  size_t size = 1;
  if (std::isdigit((unsigned char)rest[0])) {
    token.kind = Token::NUMBER;
    while (size < rest.size() && (std::isalnum((unsigned char)rest[size]) || rest[size] == '.'))
      ++size;
  } else if (startsWord(rest[0])) {
    token.kind = Token::WORD;
    // "L1::no_allocate" is one modifier; a single colon ends a label.
    while (size < rest.size())
      if (inWord(rest[size]))
        ++size;
      else if (rest.substr(size).starts_with("::"))
        size += 2;
      else
        break;
  } else if (rest[0] == '"') {
    token.kind = Token::STRING;
    size = rest.find('"', 1);
    if (size == rest.npos)
      throw Error(line, "a string without an end");
    token.text = rest.substr(1, size - 1);
    rest.remove_prefix(size + 1);
    return;
  } else {
    token.kind = Token::PUNCTUATION;
  }
  token.text = rest.substr(0, size);
  rest.remove_prefix(size);
}

Token Lexer::next() {
  Token result = token;
  advance();
  return result;
}

bool Lexer::take(std::string_view text) {
  if (!at(text))
    return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!take(text))
    throw Error(token.line, "expected '" + std::string(text) + "', found '" + token.text + "'");
}

std::string Lexer::word() {
  if (token.kind != Token::WORD)
    throw Error(token.line, "expected a name, found '" + token.text + "'");
  return next().text;
}

} // namespace simt::ptx
