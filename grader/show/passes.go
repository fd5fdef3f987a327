package show

import (
	"slices"

	"flashlab/device/trace"
)

// groupOf is how many lanes the banks serve at a time.
func groupOf(bytes int) int {
	switch {
	case bytes >= 16:
		return 8
	case bytes == 8:
		return 16
	}
	return 32
}

// wordsOf are the words that some lanes ask for, by bank, with the first lane that does.
func wordsOf(r trace.BankRequest, from, to int) (by [banks]map[int64]int) {
	for lane := from; lane < to; lane++ {
		at := r.Lanes[lane]
		for w := at / bankWord; at >= 0 && w <= (at+int64(r.Bytes)-1)/bankWord; w++ {
			if by[w%banks] == nil {
				by[w%banks] = map[int64]int{}
			}
			if _, known := by[w%banks][w]; !known {
				by[w%banks][w] = lane
			}
		}
	}
	return by
}

// passesOf counts what a request takes, how many would do, and who is in whose way where it is worst.
func passesOf(r trace.BankRequest) (passes, least int, worst []int) {
	group := groupOf(r.Bytes)
	for from := 0; from < 32; from += group {
		most := 0
		for _, words := range wordsOf(r, from, from+group) {
			most = max(most, len(words))
			if len(words) > len(worst) && len(words) > 1 {
				worst = worst[:0]
				for _, lane := range words {
					worst = append(worst, lane)
				}
			}
		}
		passes += most
		least += min(most, 1)
	}
	slices.Sort(worst)
	return passes, least, slices.Compact(worst)
}

// crowdedWords are the first words of lanes that are in others' way.
func crowdedWords(r trace.BankRequest) map[int64]bool {
	crowded := map[int64]bool{}
	group := groupOf(r.Bytes)
	for from := 0; from < 32; from += group {
		for _, words := range wordsOf(r, from, from+group) {
			for _, lane := range words {
				if len(words) > 1 {
					crowded[r.Lanes[lane]/bankWord] = true
				}
			}
		}
	}
	return crowded
}
