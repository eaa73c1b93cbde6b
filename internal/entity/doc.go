// Package entity finds what a text names: people, places, organisations and products. It
// knows no language model and reads nothing but the text and the
// lists embedded here, so equal texts give equal entities.
//
// # What counts
//
// In this order, where an earlier kind keeps the words it stands on:
//
//  1. @mentions and #tags. Addresses of the web and of mail, paths, versions and identifiers of programs name
//     nothing, unless the store or a list has them.
//  2. names that the text itself sets off: [[wikilinks]], "quoted names" with a capital
//     and 《titles》. A link whose text is a sentence or everyday words, and the quoted label of a button, an error or
//     a format (lists/labels.txt), are no names; one everyday word in quotes is one only as the title of a work. Code
//     in backquotes names nothing but a product.
//  3. names that the store or the vault knows already, in their spelling; a word that was
//     only found before needs its capital
//  4. people in small letters behind what they are to somebody, as in "my sister emma", and Chinese
//     surnames with a name behind them where a person does something
//  5. capitalised runs, CamelCase and runs of three katakana or more
//  6. the products, places and fields of work in lists/
//
// A given name (lists/given.txt) is a person wherever it has its capital. One that is an everyday word as well, such
// as Will, needs a verb behind it, a title or a place within the sentence. The capital of another word at the
// beginning of a sentence, also of one after a colon, says nothing, so such a word counts only if it stands
// capitalised within a sentence too, or begins a run. One capital within a sentence makes no name of an everyday word
// (lists/common.txt) or an acronym; the acronyms that are names are listed. Function words, days and months
// (lists/function.txt) are never part of a name. CamelCase that ends as classes do, or stands beside a word such as
// class, option or algorithm, is an identifier. Titles keep their subtitle, numbers and Off at their end; an acronym
// that says what a thing is, as in Docker CLI, is left off. A line of German, told by its function words, capitalises
// every noun: there only runs of two or more count, and what the lists have. Headings capitalise at will: they give
// no names of kind 5 but given ones and CamelCase. Lines of programs give none.
//
// # Form
//
// Entities are in the form a memory stores (memory.NormalizeEntity changes nothing), in lower case unless the
// store spells them otherwise, and at least two characters long. [Spelled] returns them as people write them.
//
// All work is linear in the text, but for sorting what was found. Everything here is safe for concurrent use, and
// results belong to the caller.
package entity
