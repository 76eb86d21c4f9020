import Foundation

/// How much of a file the kernel has in its memory.
package enum ResidentPages {
    /// In bytes; a file system in memory has all of it.
    package static func bytes(of path: String) throws -> Int {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let size = Int(status.st_size)
        guard size > 0 else { return 0 }
        // SAFETY: mapped for this call alone, asked about and never read.
        let memory = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { munmap(memory, size) }
        let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
        var pages = [UInt8](repeating: 0, count: (size + pageBytes - 1) / pageBytes)
        guard mincore(memory, size, &pages) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        return pages.count { $0 & 1 == 1 } * pageBytes
    }

    /// Takes a file out of the kernel's memory: whoever reads it next reads the disk.
    package static func drop(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }
}
