/* The tags of HTML that the reader knows, and what the standard and the reader say of each.

   TAG(identifier, name, properties). Tags that are not listed are all `TAG_other`, and told apart by their names. */

#ifndef SCENTHOUND_HTML_TAGS_H
#define SCENTHOUND_HTML_TAGS_H

#include "native.h"

/* HTML, 13.2.4.2 and 13.2.4.3: categories and stacks of open elements. */
#define SPECIAL (1u << 0)
#define FORMATTING (1u << 1)
#define SCOPE (1u << 2)            /* ends a search for an element "in scope" */
#define IMPLIED_END (1u << 3)      /* closed by "generate implied end tags" */
#define THOROUGH_END (1u << 4)     /* and by its thorough variant */
#define HEADING (1u << 5)
#define TABLE_PART (1u << 6)       /* contains no text: text in it is moved before the table */
#define BREAKOUT (1u << 7)         /* ends SVG and MathML around it (13.2.6.5) */
#define MATH_TEXT (1u << 8)        /* MathML text integration point */
#define FOREIGN_SPECIAL (1u << 9)  /* special, and ends a search, in SVG or MathML */
#define HEAD_CONTENT (1u << 15)    /* inserted as in the head, wherever it is */
/* What the reader does with them. */
#define BLOCK (1u << 10)           /* in HTML: separates words from those before and after it */
#define SEPARATES_AFTER (1u << 11) /* in MathML: separates words from those after it */
#define HIDDEN (1u << 12)          /* in HTML: its content is not displayed */
#define ALWAYS_HIDDEN (1u << 13)   /* nor in SVG and MathML */
#define CLOSES_P (1u << 14)        /* its start tag only ends a paragraph, and its end tag only ends the block */

#define SIMPLE_BLOCK (SPECIAL | BLOCK | CLOSES_P)

#define HTML_TAGS(TAG)                                                                                                 \
    TAG(a, "a", FORMATTING)                                                                                            \
    TAG(address, "address", SIMPLE_BLOCK)                                                                              \
    TAG(annotation, "annotation", ALWAYS_HIDDEN)                                                                       \
    TAG(annotation_xml, "annotation-xml", ALWAYS_HIDDEN | FOREIGN_SPECIAL)                                             \
    TAG(applet, "applet", SPECIAL | SCOPE)                                                                             \
    TAG(area, "area", SPECIAL)                                                                                         \
    TAG(article, "article", SIMPLE_BLOCK)                                                                              \
    TAG(aside, "aside", SIMPLE_BLOCK)                                                                                  \
    TAG(b, "b", FORMATTING | BREAKOUT)                                                                                 \
    TAG(base, "base", SPECIAL | HEAD_CONTENT)                                                                          \
    TAG(basefont, "basefont", SPECIAL | HEAD_CONTENT)                                                                  \
    TAG(bgsound, "bgsound", SPECIAL | HEAD_CONTENT)                                                                    \
    TAG(big, "big", FORMATTING | BREAKOUT)                                                                             \
    TAG(blockquote, "blockquote", SIMPLE_BLOCK | BREAKOUT)                                                             \
    TAG(body, "body", SPECIAL | BREAKOUT)                                                                              \
    TAG(br, "br", SPECIAL | BLOCK | BREAKOUT)                                                                          \
    TAG(button, "button", SPECIAL | BLOCK)                                                                             \
    TAG(caption, "caption", SPECIAL | SCOPE | THOROUGH_END | BLOCK)                                                    \
    TAG(center, "center", SIMPLE_BLOCK | BREAKOUT)                                                                     \
    TAG(code, "code", FORMATTING | BREAKOUT)                                                                           \
    TAG(col, "col", SPECIAL)                                                                                           \
    TAG(colgroup, "colgroup", SPECIAL | THOROUGH_END)                                                                  \
    TAG(datalist, "datalist", HIDDEN)                                                                                  \
    TAG(dd, "dd", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT)                                                            \
    TAG(desc, "desc", FOREIGN_SPECIAL)                                                                                 \
    TAG(details, "details", SIMPLE_BLOCK)                                                                              \
    TAG(dialog, "dialog", BLOCK | CLOSES_P)                                                                            \
    TAG(dir, "dir", SIMPLE_BLOCK)                                                                                      \
    TAG(div, "div", SIMPLE_BLOCK | BREAKOUT)                                                                           \
    TAG(dl, "dl", SIMPLE_BLOCK | BREAKOUT)                                                                             \
    TAG(dt, "dt", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT)                                                            \
    TAG(em, "em", FORMATTING | BREAKOUT)                                                                               \
    TAG(embed, "embed", SPECIAL | BREAKOUT)                                                                            \
    TAG(fieldset, "fieldset", SIMPLE_BLOCK)                                                                            \
    TAG(figcaption, "figcaption", SIMPLE_BLOCK)                                                                        \
    TAG(figure, "figure", SIMPLE_BLOCK)                                                                                \
    TAG(font, "font", FORMATTING)                                                                                      \
    TAG(footer, "footer", SIMPLE_BLOCK)                                                                                \
    TAG(foreignobject, "foreignobject", FOREIGN_SPECIAL)                                                               \
    TAG(form, "form", SPECIAL | BLOCK)                                                                                 \
    TAG(frame, "frame", SPECIAL)                                                                                       \
    TAG(frameset, "frameset", SPECIAL)                                                                                 \
    TAG(h1, "h1", SPECIAL | HEADING | BLOCK | BREAKOUT)                                                                \
    TAG(h2, "h2", SPECIAL | HEADING | BLOCK | BREAKOUT)                                                                \
    TAG(h3, "h3", SPECIAL | HEADING | BLOCK | BREAKOUT)                                                                \
    TAG(h4, "h4", SPECIAL | HEADING | BLOCK | BREAKOUT)                                                                \
    TAG(h5, "h5", SPECIAL | HEADING | BLOCK | BREAKOUT)                                                                \
    TAG(h6, "h6", SPECIAL | HEADING | BLOCK | BREAKOUT)                                                                \
    TAG(head, "head", SPECIAL | BREAKOUT)                                                                              \
    TAG(header, "header", SIMPLE_BLOCK)                                                                                \
    TAG(hgroup, "hgroup", SIMPLE_BLOCK)                                                                                \
    TAG(hr, "hr", SPECIAL | BLOCK | BREAKOUT)                                                                          \
    TAG(html, "html", SPECIAL | SCOPE)                                                                                 \
    TAG(i, "i", FORMATTING | BREAKOUT)                                                                                 \
    TAG(iframe, "iframe", SPECIAL | HIDDEN)                                                                            \
    TAG(image, "image", 0)                                                                                             \
    TAG(img, "img", SPECIAL | BREAKOUT)                                                                                \
    TAG(input, "input", SPECIAL)                                                                                       \
    TAG(keygen, "keygen", SPECIAL)                                                                                     \
    TAG(label, "label", BLOCK)                                                                                         \
    TAG(legend, "legend", BLOCK)                                                                                       \
    TAG(li, "li", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT)                                                            \
    TAG(link, "link", SPECIAL | HEAD_CONTENT)                                                                          \
    TAG(listing, "listing", SPECIAL | BLOCK | BREAKOUT)                                                                \
    TAG(main, "main", SIMPLE_BLOCK)                                                                                    \
    TAG(malignmark, "malignmark", 0)                                                                                   \
    TAG(marquee, "marquee", SPECIAL | SCOPE | BLOCK)                                                                   \
    TAG(math, "math", 0)                                                                                               \
    TAG(menu, "menu", SIMPLE_BLOCK | BREAKOUT)                                                                         \
    TAG(meta, "meta", SPECIAL | BREAKOUT | HEAD_CONTENT)                                                               \
    TAG(mglyph, "mglyph", 0)                                                                                           \
    TAG(mi, "mi", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(mn, "mn", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(mo, "mo", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(ms, "ms", MATH_TEXT | FOREIGN_SPECIAL)                                                                         \
    TAG(mtable, "mtable", SEPARATES_AFTER)                                                                             \
    TAG(mtd, "mtd", SEPARATES_AFTER)                                                                                   \
    TAG(mtext, "mtext", MATH_TEXT | FOREIGN_SPECIAL)                                                                   \
    TAG(mtr, "mtr", SEPARATES_AFTER)                                                                                   \
    TAG(nav, "nav", SIMPLE_BLOCK)                                                                                      \
    TAG(nobr, "nobr", FORMATTING | BREAKOUT)                                                                           \
    TAG(noembed, "noembed", SPECIAL | HIDDEN)                                                                          \
    TAG(noframes, "noframes", SPECIAL | HIDDEN | HEAD_CONTENT)                                                         \
    TAG(noscript, "noscript", SPECIAL)                                                                                 \
    TAG(object, "object", SPECIAL | SCOPE | BLOCK)                                                                     \
    TAG(ol, "ol", SIMPLE_BLOCK | BREAKOUT)                                                                             \
    TAG(optgroup, "optgroup", IMPLIED_END | BLOCK)                                                                     \
    TAG(option, "option", IMPLIED_END | BLOCK)                                                                         \
    TAG(output, "output", BLOCK)                                                                                       \
    TAG(p, "p", SPECIAL | IMPLIED_END | BLOCK | BREAKOUT)                                                              \
    TAG(param, "param", SPECIAL)                                                                                       \
    TAG(plaintext, "plaintext", SPECIAL)                                                                               \
    TAG(pre, "pre", SPECIAL | BLOCK | BREAKOUT)                                                                        \
    TAG(rb, "rb", IMPLIED_END)                                                                                         \
    TAG(rp, "rp", IMPLIED_END | BLOCK)                                                                                 \
    TAG(rt, "rt", IMPLIED_END | BLOCK)                                                                                 \
    TAG(rtc, "rtc", IMPLIED_END)                                                                                       \
    TAG(ruby, "ruby", BREAKOUT)                                                                                        \
    TAG(s, "s", FORMATTING | BREAKOUT)                                                                                 \
    TAG(script, "script", SPECIAL | HIDDEN | ALWAYS_HIDDEN | HEAD_CONTENT)                                             \
    TAG(search, "search", SIMPLE_BLOCK)                                                                                \
    TAG(section, "section", SIMPLE_BLOCK)                                                                              \
    TAG(select, "select", SPECIAL | SCOPE | BLOCK)                                                                     \
    TAG(small, "small", FORMATTING | BREAKOUT)                                                                         \
    TAG(source, "source", SPECIAL)                                                                                     \
    TAG(span, "span", BREAKOUT)                                                                                        \
    TAG(strike, "strike", FORMATTING | BREAKOUT)                                                                       \
    TAG(strong, "strong", FORMATTING | BREAKOUT)                                                                       \
    TAG(style, "style", SPECIAL | HIDDEN | ALWAYS_HIDDEN | HEAD_CONTENT)                                               \
    TAG(sub, "sub", BREAKOUT)                                                                                          \
    TAG(summary, "summary", SIMPLE_BLOCK)                                                                              \
    TAG(sup, "sup", BREAKOUT)                                                                                          \
    TAG(svg, "svg", 0)                                                                                                 \
    TAG(table, "table", SPECIAL | SCOPE | TABLE_PART | BLOCK | BREAKOUT)                                               \
    TAG(tbody, "tbody", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK)                                                   \
    TAG(td, "td", SPECIAL | SCOPE | THOROUGH_END | BLOCK)                                                              \
    TAG(template, "template", SPECIAL | SCOPE | HIDDEN | HEAD_CONTENT)                                                 \
    TAG(textarea, "textarea", SPECIAL | BLOCK)                                                                         \
    TAG(tfoot, "tfoot", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK)                                                   \
    TAG(th, "th", SPECIAL | SCOPE | THOROUGH_END | BLOCK)                                                              \
    TAG(thead, "thead", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK)                                                   \
    TAG(title, "title", SPECIAL | FOREIGN_SPECIAL | HEAD_CONTENT)                                                      \
    TAG(tr, "tr", SPECIAL | THOROUGH_END | TABLE_PART | BLOCK)                                                         \
    TAG(track, "track", SPECIAL)                                                                                       \
    TAG(tt, "tt", FORMATTING | BREAKOUT)                                                                               \
    TAG(u, "u", FORMATTING | BREAKOUT)                                                                                 \
    TAG(ul, "ul", SIMPLE_BLOCK | BREAKOUT)                                                                             \
    TAG(var, "var", BREAKOUT)                                                                                          \
    TAG(wbr, "wbr", SPECIAL)                                                                                           \
    TAG(xmp, "xmp", SPECIAL | BLOCK)

#define TAG_IDENTIFIER(identifier, name, properties) TAG_##identifier,
typedef enum { TAG_none, TAG_other, HTML_TAGS(TAG_IDENTIFIER) N_TAGS } Tag;
#undef TAG_IDENTIFIER

extern const uint32_t properties_of[N_TAGS];

/* Prepare `tag_named`. */
void html_tags_prepare(void);

/* The tag of a name in any case, and a hash of the name, which tells tags apart that are `TAG_other`. */
Tag tag_named(const uint8_t *name, size_t length, uint32_t *hash);

#endif
