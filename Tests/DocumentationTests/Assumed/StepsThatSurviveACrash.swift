// What the snippets of StepsThatSurviveACrash.md assume, beside Assumed.swift. Only compiled, and private to them.

private let old = url
private let new = url
private func files(in folder: URL) throws -> [URL] { [] }
private func convert(_ file: URL) throws -> Data { Data() }
private struct Photo { let id: Int64 }
private func photos(after id: Int64) throws -> [Photo] { [] }
private func makeThumbnail(of photo: Photo) throws {}
