package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/gradebook"
)

// contest is a class of which everybody is right and, with a card, timed; all but every third chose a name.
func contest(t *testing.T, n int, card string) Input {
	in := sample(t, n)
	for i, r := range in.Class.Records {
		if i%3 != 0 && i >= len(hostile) {
			r.Submission.Leaderboard = fmt.Sprintf("Kernel %c%d", 'A'+i%26, i)
		}
		for j := range r.Tasks {
			one := &r.Tasks[j]
			one.Device = card
			for k := range one.Result.Checks {
				c := &one.Result.Checks[k]
				c.Findings = nil
				for l := range c.Cases {
					c.Cases[l].Passed, c.Cases[l].Suspect = true, ""
					c.Cases[l].Least, c.Cases[l].Moved = 1000, uint64(1000+7*i)
				}
				if p := c.Part("speed"); p != nil {
					p.Ratio = 0
					if card != "the simulator" {
						p.Ratio, p.NotMeasured, p.NeedsGPU = 0.5+float64(i)/40, "", false
						p.Note = fmt.Sprintf("%.2f × the speed of cuBLAS (%.2f to %.2f; 1.25ms beside 1ms; full from 1 on): batch 4, 32 heads, 4096 × 4096, dim 128", p.Ratio, p.Ratio-0.01, p.Ratio+0.01)
					}
				}
			}
			one.Result.Held, one.Result.Refused = nil, ""
		}
	}
	in.Entries = in.Class.Entries()
	return in
}

func TestTheLeaderboardHasChosenNamesAlone(t *testing.T) {
	for card, words := range map[string]string{"NVIDIA H100": "On NVIDIA H100: batch 4", "the simulator": "Nothing was measured on a GPU"} {
		in := contest(t, 60, card)
		all := written(t, in)
		page := all[Leaderboard]
		assert.Contains(t, page, words)
		assert.Contains(t, page, "Kernel ")
		var read struct {
			Students int
			Boards   []gradebook.Leaderboard
		}
		require.NoError(t, json.Unmarshal([]byte(all[LeaderboardJSON]), &read))
		assert.NotEmpty(t, read.Boards)
		shown, places := map[string]bool{}, 0
		for _, b := range read.Boards {
			assert.Equal(t, card != "the simulator", b.Card != "")
			for i, row := range b.Rows {
				places++
				shown[row.Name] = true
				assert.Contains(t, page, fmt.Sprintf(">%s</th>", row.Name))
				assert.True(t, i == 0 || row.Place == i+1 || row.Place == b.Rows[i-1].Place, "%+v", row)
			}
		}
		assert.Equal(t, read.Students, len(shown))
		assert.Equal(t, places, strings.Count(page, `<th scope="row">`))
		for _, e := range in.Entries {
			for _, secret := range []string{e.Student.ID, e.Student.Name, strings.Repeat("ab", 6)} {
				if secret != "" && !strings.ContainsAny(secret, "<&\"'") {
					assert.NotContains(t, page, secret)
					assert.NotContains(t, all[LeaderboardJSON], secret)
				}
			}
			assert.False(t, shown[e.Shown.Name] && !e.OnBoard())
		}
		_, body, _ := strings.Cut(page, "</style>")
		for _, word := range []string{"points", "late", "attempt", "2026"} {
			assert.NotContains(t, body, word, "nothing else of a student is told")
		}
	}
}

func TestHostileNamesAreRefused(t *testing.T) {
	in := contest(t, 20, "NVIDIA H100")
	for i, text := range hostile {
		in.Class.Records[i].Submission.Leaderboard = text
	}
	in.Entries = in.Class.Entries()
	for i, e := range in.Entries[:len(hostile)] {
		assert.NotEmpty(t, e.Shown.Refused, "%q", hostile[i])
	}
	page := written(t, in)[Leaderboard]
	for _, text := range hostile {
		assert.NotContains(t, page, text)
	}
}

func TestAnEmptyLeaderboardSaysHowToBeOnIt(t *testing.T) {
	page := written(t, Input{Class: gradebook.Class{Course: sample(t, 0).Class.Course}})[Leaderboard]
	assert.Contains(t, page, "Nobody is here yet")
	assert.Contains(t, page, "leaderboard.txt")
}
