import Foundation
import GRDBSQLite
import Synchronization

/// Has SQLite's writes to the files of a folder fail with an error of the system.
///
/// SQLite's other calls, other folders and all reads go on.
enum FailingWrites {
    private struct Fault {
        var folder: String
        var error: Int32
        var isOfReads: Bool
    }

    private static let fault = Mutex<Fault?>(nil)
    private static let install: Void = {
        guard let vfs = sqlite3_vfs_find("unix") else { return }
        for (name, call) in [("pwrite64", positioned), ("pwrite", positioned), ("write", plain)] {
            _ = vfs.pointee.xSetSystemCall(vfs, name, call)
        }
        for name in ["pread64", "pread"] { _ = vfs.pointee.xSetSystemCall(vfs, name, reading) }
    }()

    /// Lets writes in the folder fail until `stop`, or reads; one folder at a time.
    static func begin(in folder: String, error: Int32, ofReads isOfReads: Bool = false) {
        _ = self.install
        self.fault.withLock { $0 = Fault(folder: folder, error: error, isOfReads: isOfReads) }
    }

    static func stop() { self.fault.withLock { $0 = nil } }

    // SAFETY: SQLite calls it back with the arguments of pwrite(2), whose types these are.
    private static let positioned: sqlite3_syscall_ptr = {
        let call: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = {
            file,
            bytes,
            count,
            offset in
            FailingWrites.fails(file) ? -1 : pwrite(file, bytes, count, offset)
        }
        return unsafeBitCast(call, to: sqlite3_syscall_ptr.self)
    }()

    // SAFETY: as above, of write(2).
    private static let plain: sqlite3_syscall_ptr = {
        let call: @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int = { file, bytes, count in
            FailingWrites.fails(file) ? -1 : write(file, bytes, count)
        }
        return unsafeBitCast(call, to: sqlite3_syscall_ptr.self)
    }()

    // SAFETY: as above, of pread(2).
    private static let reading: sqlite3_syscall_ptr = {
        let call: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int = {
            file,
            bytes,
            count,
            offset in
            FailingWrites.fails(file, reading: true) ? -1 : pread(file, bytes, count, offset)
        }
        return unsafeBitCast(call, to: sqlite3_syscall_ptr.self)
    }()

    private static func fails(_ file: Int32, reading isReading: Bool = false) -> Bool {
        guard let fault = self.fault.withLock({ $0 }), fault.isOfReads == isReading,
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)"),
            path.hasPrefix(fault.folder)
        else { return false }
        errno = fault.error
        return true
    }
}
