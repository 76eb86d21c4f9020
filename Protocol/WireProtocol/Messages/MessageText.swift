/// A text for people, cut to what the protocol carries, at a boundary of characters.
func messageText(_ text: String, bytesMax: Int) -> String {
    guard text.utf8.count > bytesMax else { return text }
    var cut = text
    while cut.utf8.count > bytesMax { cut.removeLast() }
    return cut
}
