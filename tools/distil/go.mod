module emberd/tools/distil

go 1.26.5

require (
	emberd v0.0.0-00010101000000-000000000000
	gonum.org/v1/gonum v0.17.0
)

require (
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace emberd => ../..
