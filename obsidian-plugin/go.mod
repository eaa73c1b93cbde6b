// No Go code: this file keeps the go command out of node_modules, where some packages have Go files.
module emberd/obsidian-plugin

go 1.26.5
