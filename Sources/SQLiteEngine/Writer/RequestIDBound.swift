import Foundation
import RecordModel

/// Where the IDs of a time begin in the order of the table.
enum RequestIDBound {
    static func data(milliseconds: Int64) -> Data {
        Data(RequestID(high: UInt64(truncatingIfNeeded: milliseconds) << 16, low: 0).bytes)
    }
}
