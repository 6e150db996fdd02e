# Writes OUTPUT, a C++ file that holds the texts FILES (names under DIRECTORY, divided by "|") under the names PREFIX + file:
# FUNCTION() gives them all, and DIGEST(), where that is set, the SHA-256 over them. Names and texts alone go in: no path,
# no time.
string(REPLACE "|" ";" FILES "${FILES}")
set(rows "")
set(digested "")
foreach(file IN LISTS FILES)
  file(READ "${DIRECTORY}/${file}" text)
  set(name "${PREFIX}${file}")
  string(APPEND rows "    {\"${name}\", R\"EIDER(${text})EIDER\"},\n")
  # Length-prefixed, so that no two sets of files give the same bytes.
  string(LENGTH "${name}" name_length)
  string(LENGTH "${text}" text_length)
  string(APPEND digested "${name_length}:${name}${text_length}:${text}")
endforeach()
string(SHA256 digest "${digested}")
set(digest_function "")
if(DIGEST)
  set(digest_function "const char *${DIGEST}() { return \"${digest}\"; }\n")
endif()
file(WRITE "${OUTPUT}" "#include \"templates/EmbeddedTemplates.h\"

namespace eider {
namespace {
constexpr EmbeddedTemplate texts[] = {
${rows}};
} // namespace

std::span<const EmbeddedTemplate> ${FUNCTION}();
std::span<const EmbeddedTemplate> ${FUNCTION}() { return texts; }
${digest_function}} // namespace eider
")
