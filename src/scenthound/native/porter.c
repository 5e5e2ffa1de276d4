/* The stemmer of Porter (1980), with the results of Snowball's `porter`, which PyStemmer runs.

   A word is lower-case UTF-8. All suffixes are of ASCII letters; other characters are consonants. A y is a consonant at
   the start of a word and after a vowel, and is written Y then. R1 is the part behind the first consonant that follows a
   vowel, R2 the same within R1. */

#include "words.h"

typedef struct {
    unsigned char *letters;
    size_t length, r1, r2;
} Word;

typedef struct {
    const char *suffix, *replacement;
    size_t length; /* of the suffix */
} Rule;

#define RULE(suffix, replacement) {suffix, replacement, sizeof suffix - 1}
#define NO_RULE {NULL, NULL, 0}

static bool is_vowel(unsigned char letter)
{
    return letter == 'a' || letter == 'e' || letter == 'i' || letter == 'o' || letter == 'u' || letter == 'y';
}

static bool ends_with(const Word *word, size_t end, const char *suffix)
{
    size_t length = strlen(suffix);
    return end >= length && memcmp(word->letters + end - length, suffix, length) == 0;
}

static bool has_vowel(const Word *word, size_t end)
{
    for (size_t index = 0; index < end; index++) {
        if (is_vowel(word->letters[index])) {
            return true;
        }
    }
    return false;
}

/* The start of the character before `end`. */
static size_t character_before(const Word *word, size_t end)
{
    do {
        end--;
    } while (end > 0 && (word->letters[end] & 0xC0) == 0x80);
    return end;
}

/* Whether consonant, vowel, consonant are before `end`, the last one neither w, x nor Y. */
static bool is_short(const Word *word, size_t end)
{
    if (end < 3) {
        return false;
    }
    size_t last = character_before(word, end);
    unsigned char letter = word->letters[last];
    return !is_vowel(letter) && letter != 'w' && letter != 'x' && letter != 'Y' && last >= 2 &&
           is_vowel(word->letters[last - 1]) && !is_vowel(word->letters[last - 2]);
}

/* The position behind the first consonant that follows a vowel at or behind `start`, else the length. */
static size_t region_from(const Word *word, size_t start)
{
    size_t index = start;
    while (index < word->length && !is_vowel(word->letters[index])) {
        index++;
    }
    while (index < word->length && is_vowel(word->letters[index])) {
        index++;
    }
    if (index == word->length) {
        return index;
    }
    do {
        index++;
    } while (index < word->length && (word->letters[index] & 0xC0) == 0x80);
    return index;
}

static bool mark_consonants(Word *word)
{
    bool is_marked = false;
    for (size_t index = 0; index < word->length; index++) {
        if (word->letters[index] == 'y' && (index == 0 || is_vowel(word->letters[index - 1]))) {
            word->letters[index] = 'Y';
            is_marked = true;
        }
    }
    return is_marked;
}

/* The rule with the longest suffix of the word; `rules` end with a suffix of NULL, longer ones before their endings. */
static const Rule *rule_of(const Word *word, const Rule *rules)
{
    if (word->length == 0) {
        return NULL;
    }
    const unsigned char *end = word->letters + word->length;
    for (; rules->suffix != NULL; rules++) {
        /* The last letters first, because they are different for most rules. */
        if (end[-1] == rules->suffix[rules->length - 1] && word->length >= rules->length &&
            memcmp(end - rules->length, rules->suffix, rules->length) == 0) {
            return rules;
        }
    }
    return NULL;
}

static void apply(Word *word, const Rule *rule)
{
    size_t start = word->length - rule->length, length = strlen(rule->replacement);
    memcpy(word->letters + start, rule->replacement, length);
    word->length = start + length;
}

/* Apply the rule with the longest suffix, if that is in the region from `start` on. */
static void replace_suffix(Word *word, const Rule *rules, size_t start)
{
    const Rule *rule = rule_of(word, rules);
    if (rule != NULL && word->length - rule->length >= start) {
        apply(word, rule);
    }
}

static void step_1a(Word *word)
{
    static const Rule rules[] = {RULE("sses", "ss"), RULE("ies", "i"), RULE("ss", "ss"), RULE("s", ""), NO_RULE};
    replace_suffix(word, rules, 0);
}

/* After "ed" or "ing" was removed. */
static void restore_ending(Word *word)
{
    static const char doubled[] = "bdfgmnprt";
    size_t length = word->length;
    unsigned char last = length > 0 ? word->letters[length - 1] : 0;
    if (ends_with(word, length, "at") || ends_with(word, length, "bl") || ends_with(word, length, "iz")) {
        word->letters[word->length++] = 'e';
    } else if (length >= 2 && last == word->letters[length - 2] && last != 0 && strchr(doubled, last) != NULL) {
        word->length--;
    } else if (length == word->r1 && is_short(word, length)) {
        word->letters[word->length++] = 'e';
    }
}

static void step_1b(Word *word)
{
    static const Rule rules[] = {RULE("eed", "ee"), RULE("ed", ""), RULE("ing", ""), NO_RULE};
    const Rule *rule = rule_of(word, rules);
    if (rule == NULL) {
        return;
    }
    size_t start = word->length - rule->length;
    if (rule == rules) {
        if (start >= word->r1) {
            apply(word, rule);
        }
    } else if (has_vowel(word, start)) {
        word->length = start;
        restore_ending(word);
    }
}

static void step_1c(Word *word)
{
    size_t start = word->length - 1;
    if (word->length > 0 && (word->letters[start] == 'y' || word->letters[start] == 'Y') && has_vowel(word, start)) {
        word->letters[start] = 'i';
    }
}

static void step_2(Word *word)
{
    static const Rule rules[] = {
        RULE("ational", "ate"), RULE("ization", "ize"), RULE("fulness", "ful"), RULE("ousness", "ous"),
        RULE("iveness", "ive"), RULE("tional", "tion"), RULE("biliti", "ble"), RULE("entli", "ent"),
        RULE("ation", "ate"), RULE("alism", "al"), RULE("aliti", "al"), RULE("ousli", "ous"), RULE("iviti", "ive"),
        RULE("enci", "ence"), RULE("anci", "ance"), RULE("abli", "able"), RULE("izer", "ize"), RULE("ator", "ate"),
        RULE("alli", "al"), RULE("eli", "e"), NO_RULE,
    };
    replace_suffix(word, rules, word->r1);
}

static void step_3(Word *word)
{
    static const Rule rules[] = {
        RULE("alize", "al"), RULE("icate", "ic"), RULE("iciti", "ic"), RULE("ative", ""), RULE("ical", "ic"),
        RULE("ness", ""), RULE("ful", ""), NO_RULE,
    };
    replace_suffix(word, rules, word->r1);
}

static void step_4(Word *word)
{
    static const Rule rules[] = {
        RULE("ement", ""), RULE("ance", ""), RULE("ence", ""), RULE("able", ""), RULE("ible", ""), RULE("ment", ""),
        RULE("ant", ""), RULE("ent", ""), RULE("ism", ""), RULE("ate", ""), RULE("iti", ""), RULE("ous", ""),
        RULE("ive", ""), RULE("ize", ""), RULE("sion", "s"), RULE("tion", "t"), RULE("al", ""), RULE("er", ""),
        RULE("ic", ""), RULE("ou", ""), NO_RULE,
    };
    const Rule *rule = rule_of(word, rules);
    if (rule != NULL) {
        /* "s" and "t" stay: they need not be in R2. */
        size_t start = word->length - rule->length + strlen(rule->replacement);
        if (start >= word->r2) {
            word->length = start;
        }
    }
}

static void step_5(Word *word)
{
    size_t start = word->length - 1;
    if (word->length > 0 && word->letters[start] == 'e' &&
        (start >= word->r2 || (start >= word->r1 && !is_short(word, start)))) {
        word->length = start;
    }
    start = word->length - 1;
    if (ends_with(word, word->length, "ll") && start >= word->r2) {
        word->length = start;
    }
}

size_t porter_stem(unsigned char *letters, size_t length)
{
    if (length == 0 || letters[length - 1] < 'a' || letters[length - 1] > 'z') {
        return length;
    }
    Word word = {letters, length, length, length};
    bool is_marked = mark_consonants(&word);
    word.r1 = region_from(&word, 0);
    word.r2 = region_from(&word, word.r1);
    step_1a(&word);
    step_1b(&word);
    step_1c(&word);
    step_2(&word);
    step_3(&word);
    step_4(&word);
    step_5(&word);
    for (size_t index = 0; is_marked && index < word.length; index++) {
        if (letters[index] == 'Y') {
            letters[index] = 'y';
        }
    }
    return word.length;
}
