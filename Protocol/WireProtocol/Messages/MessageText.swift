/// A text for people, truncated to the protocol's limit at a character boundary.
func messageText(_ text: String, bytesMax: Int) -> String {
    guard text.utf8.count > bytesMax else { return text }
    var cut = text
    while cut.utf8.count > bytesMax { cut.removeLast() }
    return cut
}
