/* Characters in UTF-8. */

#include "native.h"

static bool continues(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

uint32_t decode_character(const uint8_t *bytes, size_t available, size_t *size)
{
    /* Of two, three and four bytes: smaller codes have a shorter form, which alone is valid. */
    static const uint32_t first_code[] = {0x80, 0x800, 0x10000};
    uint8_t lead = bytes[0];
    *size = 1;
    if (lead < 0x80) {
        return lead;
    }
    size_t n_more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || n_more >= available) {
        return INVALID;
    }
    uint32_t code = lead & (0x3F >> n_more);
    for (size_t index = 1; index <= n_more; index++) {
        if (!continues(bytes[index])) {
            return INVALID;
        }
        code = code << 6 | (bytes[index] & 0x3F);
    }
    if (code < first_code[n_more - 1] || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) {
        return INVALID;
    }
    *size = n_more + 1;
    return code;
}

size_t encode_character(uint8_t *bytes, uint32_t code)
{
    if (code < 0x80) {
        bytes[0] = (uint8_t)code;
        return 1;
    }
    size_t n_more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (size_t index = n_more; index > 0; index--) {
        bytes[index] = (uint8_t)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    bytes[0] = (uint8_t)(0xFF << (7 - n_more) | code);
    return n_more + 1;
}
