/// Keys of rows of one zone in arrays, as a table `k` in a statement.
///
/// The statement compares the columns of its rows with those of `k`, database and zone included. Without
/// statistics PostgreSQL takes a zone for a row or two. A comparison with the parameters would have it
/// read the whole zone, and look each row up in the list. `OFFSET 0` keeps the parameters from it, so it
/// has to find one row for each key.
struct KeyList {
    let text: String

    /// - Parameter columns: Names and types, as `number bigint, name text`. The values of each are an array
    ///   from parameter 3 on; 1 and 2 are database and zone.
    init(_ columns: String) {
        let columns = columns.split(separator: ",").map { $0.split(separator: " ") }
        let arrays = columns.enumerated().map { "$\($0.offset + 3)::\($0.element[1])[]" }
        let names = columns.map { String($0[0]) }.joined(separator: ", ")
        self.text = """
            (SELECT $1::bigint AS database, $2::bigint AS zone, u.* \
            FROM unnest(\(arrays.joined(separator: ", "))) WITH ORDINALITY AS u(\(names), ordinal) OFFSET 0) AS k
            """
    }
}
