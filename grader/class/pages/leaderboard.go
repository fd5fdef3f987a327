package pages

import (
	"encoding/json"
	"path/filepath"

	"flashlab/grader/class/gradebook"
	"flashlab/internal/harmless"
)

// standings is what leaderboard.html and leaderboard.json show: students by the names that they chose, and nothing else
// of them. It holds neither points nor when something was handed in.
type standings struct {
	Course   string                  `json:"course"`
	Release  string                  `json:"release,omitempty"`
	Students int                     `json:"students"` // who chose a name that can be shown
	Timed    bool                    `json:"timed"`    // some of it on a GPU
	Boards   []gradebook.Leaderboard `json:"boards"`
}

func standingsOf(in Input) standings {
	s := standings{Course: in.Class.Course.Title, Boards: in.Class.Leaderboards(in.Entries)}
	for _, e := range in.Entries {
		if e.OnBoard() {
			s.Students++
		}
		if r := e.Last(); r != nil && s.Release == "" {
			s.Release = r.Release
		}
	}
	for _, b := range s.Boards {
		s.Timed = s.Timed || b.By == gradebook.BySpeed
	}
	if s.Boards == nil {
		s.Boards = []gradebook.Leaderboard{} // JSON's readers want a list
	}
	return s
}

func leaderboard(out string, in Input) error {
	s := standingsOf(in)
	if err := page(filepath.Join(out, Leaderboard), "leaderboard.tmpl", s); err != nil {
		return err
	}
	harmless.All(&s)
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return put(filepath.Join(out, LeaderboardJSON), append(data, '\n'))
}
