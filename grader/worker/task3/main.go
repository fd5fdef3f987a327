package main

import "os"

func main() { if err := table(os.Stdout); err != nil { panic(err) } }
