package device

// HasMangled tells whether the source may have kernels without C linkage, or asks for one. It goes by the
// text alone, so it may say so where there are none.
func (s Source) HasMangled() bool {
	if len(s.Kernels) > 0 || hasMangled(s.Text) {
		return true
	}
	for _, text := range s.Files {
		if hasMangled(text) {
			return true
		}
	}
	return false
}

func hasMangled(text string) bool {
	code := BlankComments(text)
	blocks := externBlocks(code)
	for _, at := range globalToken.FindAllStringIndex(code, -1) {
		if !isExternC(code, at[0], blocks) {
			return true
		}
	}
	return false
}
