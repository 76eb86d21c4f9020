/// The cost of a change to the writer, in units of a few microseconds.
///
/// An engine counts about one unit for a lookup, a row and an entry of an index.
package enum WorkUnits {
    package static func ofChange(records: Int, bytes: Int) -> Int { 4 + 2 * records + self.ofBytes(bytes) }

    package static func ofBytes(_ bytes: Int) -> Int { bytes / 1_024 }
}
